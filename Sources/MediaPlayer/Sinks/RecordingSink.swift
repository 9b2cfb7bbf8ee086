import IoTCore
import MediaCodec
import NIOCore
import Synchronization

/// Writes coded frames, as they came, as fragmented MP4, on a thread of its own. After frames that a slow reader lost it
/// goes on with a key frame; the picture before them stands for as long. When none comes it ends.
final class RecordingSink: Recorder {
    /// What may wait for the reader: 16 MiB, and a minute beside what is from before the recording.
    static let limits = SinkLimits(duration: 60_000_000, bytes: 16 << 20)
    /// How long a recording that lost frames waits for a key frame, of the media's time.
    static let patience = TimeAmount.seconds(60)

    private struct Entry: Sendable {
        let frame: MediaFrame
        let senderTime: Int64
        let presentAt: NIODeadline
    }

    let stream: ChunkStream
    private let hasVideo: Bool
    private let queue: SinkQueue<Entry>
    private let begun: NIODeadline
    /// Since when nothing but a key frame is missing.
    private let lacking = Mutex<NIODeadline?>(nil)

    /// - Parameters:
    ///   - frames: ends after this many pictures and their sound; with B-frames after the group in which the last of
    ///     them is, since a picture that others refer to comes before those that are shown before it.
    ///   - begun: Frames that were due before it came from elsewhere at once: they wait as no time.
    ///   - onLoss: called when a frame is dropped and the one before it was not.
    init(
        video: VideoParameters?, audio: AudioParameters?, frames: Int? = nil, limits: SinkLimits = limits,
        parts: PlayerParts = PlayerParts(), begun: NIODeadline = .distantPast,
        onLoss: @escaping @Sendable () -> Void = {}
    ) {
        hasVideo = video != nil
        self.begun = begun
        let stream = ChunkStream(limits)
        self.stream = stream
        queue = SinkQueue(name: "recording", .stream(stream), parts: parts, onLoss: onLoss) {
            let writer = RecordingWriter(video: video, audio: audio, frames: frames, stream: stream)
            return SinkQueue.Work(
                take: { writer.write($0.frame, senderTime: $0.senderTime, presentAt: $0.presentAt) },
                end: { writer.finish($0) })
        }
    }

    var isClosed: Bool { stream.isClosed }

    /// Takes a frame in decoding order; `senderTime` is its `pts` on the clock that both tracks share, µs.
    func take(_ frame: MediaFrame, senderTime: Int64, presentAt: NIODeadline) {
        _ = queue.give(
            Entry(frame: frame, senderTime: senderTime, presentAt: presentAt),
            at: max(presentAt, begun).playoutMicroseconds, bytes: frame.bytes.readableBytes,
            isStart: !hasVideo || frame.kind == .video && frame.isKeyFrame)
        let waited = lacking.withLock { lacking -> TimeAmount in
            lacking = stream.room.needsStart ? lacking ?? presentAt : nil
            return lacking.map { presentAt - $0 } ?? .zero
        }
        guard waited >= Self.patience else { return }
        queue.end(
            IoTError(
                .slowReader,
                "the reader was too slow, frames were dropped, and no key frame came in the 60 s after them",
                remedy: "read faster, or have the camera send key frames more often"))
    }

    var needsKeyFrame: Bool { lacking.withLock { $0 != nil } && !isClosed }

    func end(_ reason: IoTError?) {
        queue.end(reason)
    }
}
