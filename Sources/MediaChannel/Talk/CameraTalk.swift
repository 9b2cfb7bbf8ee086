import IoTCore
import Logging
import MediaPlayer
import NIOCore
import RTP

/// Who talks through a camera: one caller at a time. Confined to the camera's event loop.
final class CameraTalk {
    private struct Talker {
        let session: String
        let isOwner: Bool
        let playback: TalkPlayback
        let onEnd: (IoTError) -> Void
        let begun: NIODeadline
        var lastFrame: NIODeadline
    }

    /// A caller that sends nothing for so long, or that talks for so long, loses its turn.
    static let silence = TimeAmount.seconds(60)
    static let longestTurn = TimeAmount.minutes(10)

    private let eventLoop: any EventLoop
    private let logger: Logger
    private let parts: PlayerParts
    private let output: TalkOutput?
    private let onChange: () -> Void
    private var talker: Talker?
    /// The end of the talk before.
    private var last: TalkPlayback?
    private var watch: Scheduled<Void>?

    /// - Parameters:
    ///   - makeLoudspeaker: called each time that the loudspeaker is opened; `nil` for a camera that plays nothing.
    ///   - onChange: called when a talk begins or ends.
    init(
        eventLoop: any EventLoop, logger: Logger, parts: PlayerParts = PlayerParts(),
        makeLoudspeaker: (() -> LoudspeakerHandle)?, onChange: @escaping () -> Void
    ) {
        self.eventLoop = eventLoop
        self.logger = logger
        self.parts = parts
        output = makeLoudspeaker.map { TalkOutput(eventLoop: eventLoop, make: $0) }
        self.onChange = onChange
    }

    var isOffered: Bool { output != nil }

    /// How many talk now: 0 or 1.
    var talkers: Int { talker == nil ? 0 : 1 }

    func isTalking(_ session: String) -> Bool { talker?.session == session }

    /// The caller begins to talk; has no effect if it talks already. An owner of the camera ends the talk of somebody who
    /// does not own it.
    ///
    /// - Parameter onEnd: called if the camera ends the talk.
    /// - Throws: `talkerBusy` while another caller talks; `operationNotAllowed` for a camera without a loudspeaker.
    func start(session: String, isOwner: Bool = false, onEnd: @escaping (IoTError) -> Void) throws(IoTError) {
        guard let output else {
            throw IoTError(
                .operationNotAllowed, "this camera has no loudspeaker",
                remedy: "set `talk` in its configuration, or use a camera with an RTSP back channel")
        }
        if let talker {
            guard talker.session != session else { return }
            guard isOwner, !talker.isOwner else { throw IoTError(.talkerBusy) }
            end(IoTError(.talkerBusy, "the camera's owner talks now"))
        }
        let playback = try TalkPlayback(output, eventLoop: eventLoop, logger: logger, parts: parts) {
            [weak self] error in self?.end(error)
        }
        last?.end()
        last = nil
        let now = eventLoop.now
        talker = Talker(
            session: session, isOwner: isOwner, playback: playback, onEnd: onEnd, begun: now, lastFrame: now)
        logger.info("talk began", metadata: ["viewer.session": "\(session)"])
        scheduleWatch(at: now + Self.silence)
        onChange()
    }

    func take(_ frame: ReceivedFrame, of session: String, at now: NIODeadline) {
        guard talker?.session == session else { return }
        talker?.lastFrame = now
        talker?.playback.take(frame, at: now)
    }

    func takeLoss(of session: String, at now: NIODeadline) {
        guard let talker, talker.session == session else { return }
        talker.playback.takeLoss(at: now)
    }

    /// The caller has stopped or left. What it said is played to its end.
    func stop(session: String) {
        guard let talker, talker.session == session else { return }
        finish()
        last = talker.playback
        talker.playback.drain { [weak self] in self?.rest() }
    }

    /// Ends the talk from the camera's side, at once.
    func end(_ reason: IoTError) {
        guard let talker else { return }
        logger.notice(
            "talk was ended",
            metadata: [
                "error.code": "\(reason.code.rawValue)", "error.message": "\(reason.message)",
                "error.remedy": "\(reason.remedy)",
            ])
        finish()
        talker.playback.end()
        rest()
        talker.onEnd(reason)
    }

    /// Ends the talk, and closes the loudspeaker; completes when it is closed.
    func close(_ reason: IoTError) -> EventLoopFuture<Void> {
        end(reason)
        last?.end()
        return output?.close() ?? eventLoop.makeSucceededVoidFuture()
    }

    private func rest() {
        if talker == nil { output?.rest() }
    }

    private func finish() {
        guard let talker else { return }
        self.talker = nil
        watch?.cancel()
        watch = nil
        logger.info("talk ended", metadata: ["viewer.session": "\(talker.session)"])
        onChange()
    }

    private func scheduleWatch(at deadline: NIODeadline) {
        watch = eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [weak self] in
            guard let self, let talker else { return }
            let now = eventLoop.now
            if now >= talker.begun + Self.longestTurn {
                end(IoTError(.timeoutDisconnected, "a talk lasts at most ten minutes"))
            } else if now >= talker.lastFrame + Self.silence {
                end(IoTError(.timeoutDisconnected, "nothing was sent for a minute"))
            } else {
                scheduleWatch(at: min(talker.lastFrame + Self.silence, talker.begun + Self.longestTurn))
            }
        }
    }
}
