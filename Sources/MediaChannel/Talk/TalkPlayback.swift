import IoTCore
import Logging
import MediaCodec
import MediaPlayer
import NIOCore
import RTP

/// Plays one caller's speech on the camera's loudspeaker: from the packets' frames through the jitter buffer, the decoder
/// and the pacer. Confined to the camera's event loop.
final class TalkPlayback {
    private enum Phase {
        /// Nothing was said yet.
        case waiting
        case opening
        case playing
        /// The caller has stopped; what it said is played to its end.
        case draining
        case ended
    }

    private static let use = "talk"
    /// Before anything is measured, most of the room for jitter is in the pacer.
    private static let options = JitterBufferOptions(initialTolerance: .milliseconds(20))
    /// The most that can still be on its way in the buffers.
    private static let drainLimit = TimeAmount.milliseconds(800)

    private let eventLoop: any EventLoop
    private let output: TalkOutput
    private let feed = TalkFeed()
    private let player: Player
    private let sound: TalkSound
    private let onFailure: (IoTError) -> Void
    private var phase = Phase.waiting
    private var timer: Scheduled<Void>?
    private var drainEnd = NIODeadline.distantFuture
    private var onPlayed: () -> Void = {}

    /// - Parameter onFailure: called once if the loudspeaker cannot be opened, or fails.
    init(
        _ output: TalkOutput, eventLoop: any EventLoop, logger: Logger, parts: PlayerParts = PlayerParts(),
        onFailure: @escaping (IoTError) -> Void
    ) throws(IoTError) {
        self.eventLoop = eventLoop
        self.output = output
        self.onFailure = onFailure
        let sound = TalkSound(clock: parts.clock)
        self.sound = sound
        player = Player(
            source: feed, capabilities: PlayerCapabilities(of: .live), options: Self.options, parts: parts,
            eventLoop: eventLoop, logger: logger
        ) { _ in }
        try player.run { core, now throws(IoTError) in
            try core.prepare(at: now)
            core.join(Self.use)
            try core.addSound(of: Self.use) { TalkSound.Sink(sound) }
            _ = try core.play(Self.use, at: now)
        }
    }

    func take(_ frame: ReceivedFrame, at now: NIODeadline) {
        switch phase {
        case .waiting: open()
        case .opening, .playing: break
        case .draining, .ended: return
        }
        feed.take(frame, at: now)
    }

    func takeLoss(at now: NIODeadline) {
        guard phase == .opening || phase == .playing else { return }
        feed.takeLoss(at: now)
    }

    private func open() {
        phase = .opening
        output.open().assumeIsolated().whenComplete { [weak self] result in
            guard let self, phase == .opening || phase == .draining else { return }
            do {
                try result.get()
                if phase == .opening { phase = .playing }
                sound.begin(at: eventLoop.now)
                tick()
            } catch {
                fail(error as? IoTError ?? IoTError(.internalFailure, "the loudspeaker failed", underlying: error))
            }
        }
    }

    private func fail(_ error: IoTError) {
        if phase == .draining { return played() }
        phase = .waiting
        onFailure(error)
    }

    /// Plays what is due, and waits for the next frame.
    private func tick() {
        let now = eventLoop.now
        for frame in sound.frames(at: now) {
            do throws(IoTError) {
                try output.play(frame.samples)
            } catch {
                return fail(error)
            }
        }
        if phase == .draining, sound.isPlayed || now >= drainEnd { return played() }
        guard phase == .playing || phase == .draining, let due = sound.nextDue else { return }
        timer = eventLoop.assumeIsolated().scheduleTask(deadline: due) { [weak self] in self?.tick() }
    }

    /// The caller has stopped: plays what it has said, then calls `onPlayed`.
    func drain(_ onPlayed: @escaping () -> Void) {
        self.onPlayed = onPlayed
        switch phase {
        case .waiting: played()
        case .opening, .playing:
            phase = .draining
            drainEnd = eventLoop.now + Self.drainLimit
            player.run { core, now in core.stop(at: now) }
            // The loudspeaker may still be opening.
            let end = drainEnd
            eventLoop.assumeIsolated().scheduleTask(deadline: end) { [weak self] in self?.played() }
        case .draining, .ended: break
        }
    }

    private func played() {
        guard phase != .ended else { return }
        end()
        let onPlayed = onPlayed
        self.onPlayed = {}
        onPlayed()
    }

    /// Ends the sound at once.
    func end() {
        guard phase != .ended else { return }
        phase = .ended
        timer?.cancel()
        timer = nil
        player.run { core, now in core.stop(at: now) }
    }
}
