import IoTCore
import MediaCodec
import MediaPlayer
import NIOCore
import Synchronization

/// The decoded speech on its way from the player's thread to the loudspeaker's clock.
final class TalkSound: Sendable {
    private struct State {
        /// `nil` until the loudspeaker is open.
        var pacer: SpeechPacer?
        /// What was said before.
        var early: [Int16] = []
        var isFinished = false
    }

    /// The words before the loudspeaker was open would delay all later ones: only the newest 40 ms are kept.
    private static let earlyLimit = 2 * SpeechFormat.frameLength

    private let state = Mutex(State())
    private let clock: @Sendable () -> NIODeadline

    /// - Parameter clock: the time on any thread.
    init(clock: @escaping @Sendable () -> NIODeadline) {
        self.clock = clock
    }

    /// The loudspeaker is open: its clock begins.
    func begin(at now: NIODeadline) {
        state.withLock { state in
            guard state.pacer == nil else { return }
            var pacer = SpeechPacer(start: now)
            pacer.push(state.early, at: now)
            if state.isFinished { pacer.finish() }
            state.early = []
            state.pacer = pacer
        }
    }

    /// When the next frame is due; `nil` before the beginning.
    var nextDue: NIODeadline? { state.withLock { $0.pacer?.nextDue } }

    /// Whether everything was played, and no more will come.
    var isPlayed: Bool { state.withLock { $0.isFinished && ($0.pacer?.isFinished ?? true) } }

    /// The frames that are due.
    func frames(at now: NIODeadline) -> [SpeechPacer.Frame] {
        state.withLock { state in
            var frames: [SpeechPacer.Frame] = []
            while let frame = state.pacer?.nextFrame(at: now) { frames.append(frame) }
            return frames
        }
    }

    private func push(_ samples: [Int16]) {
        let now = clock()
        state.withLock { state in
            guard state.pacer == nil else {
                state.pacer?.push(samples, at: now)
                return
            }
            state.early += samples
            if state.early.count > Self.earlyLimit {
                state.early.removeFirst(state.early.count - Self.earlyLimit)
            }
        }
    }

    private func finish() {
        state.withLock { state in
            state.isFinished = true
            state.pacer?.finish()
        }
    }

    /// The player's sink.
    final class Sink: SoundSink {
        private let sound: TalkSound

        init(_ sound: TalkSound) { self.sound = sound }

        func take(_ buffer: AudioBuffer, presentAt: NIODeadline) -> Bool {
            var bytes = buffer.samples
            // The decoder of speech gives mono; of anything else the first channel is played.
            let channels = max(1, buffer.channels)
            var samples: [Int16] = []
            samples.reserveCapacity(buffer.frameCount)
            while let sample = bytes.readInteger(endianness: .little, as: Int16.self) {
                samples.append(sample)
                bytes.moveReaderIndex(forwardBy: min(bytes.readableBytes, 2 * (channels - 1)))
            }
            sound.push(samples)
            return true
        }

        func end(_ reason: IoTError?) { sound.finish() }
    }
}
