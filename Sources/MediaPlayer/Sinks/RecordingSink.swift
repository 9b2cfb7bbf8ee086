import IoTCore
import MediaCodec
import NIOCore
import Synchronization

/// Writes coded frames, as they came, as fragmented MP4, on its own thread. After a slow reader lost frames, it
/// continues with the next key frame; the picture before the loss is shown until then. If none comes, it ends.
final class RecordingSink: Recorder {
    /// The limits of what waits for the reader: 16 MiB, and a minute in addition to the frames from before the
    /// recording.
    static let limits = SinkLimits(duration: 60_000_000, bytes: 16 << 20)
    /// How long a recording that lost frames waits for a key frame, in media time.
    static let patience = TimeAmount.seconds(60)

    private struct Entry: Sendable {
        let frame: MediaFrame
        let senderTime: Int64
        let presentAt: NIODeadline
        let rotation: PictureRotation
    }

    let stream: ChunkStream
    private let hasVideo: Bool
    private let queue: SinkQueue<Entry>
    private let begun: NIODeadline
    /// Since when only a key frame is missing.
    private let lacking = Mutex<NIODeadline?>(nil)
    private let rotation = Mutex(PictureRotation.none)

    /// - Parameters:
    ///   - frames: ends after this many pictures and their sound. With B-frames, it ends after the group that contains
    ///     the last of them, because a referenced picture comes before those that are shown before it.
    ///   - begun: the start of the recording. Older frames arrived at once, so they do not count towards the time
    ///     limit.
    ///   - onLoss: called when a frame is dropped and the one before it was not.
    ///   - onFailure: called if the recording ends with an error.
    init(
        video: VideoParameters?, audio: AudioParameters?, frames: Int? = nil, limits: SinkLimits = limits,
        parts: PlayerParts = PlayerParts(), begun: NIODeadline = .distantPast,
        onLoss: @escaping @Sendable () -> Void = {}, onFailure: @escaping @Sendable (IoTError) -> Void = { _ in }
    ) {
        hasVideo = video != nil
        self.begun = begun
        let stream = ChunkStream(limits, onFailure: onFailure)
        self.stream = stream
        queue = SinkQueue(name: "recording", .stream(stream), parts: parts, onLoss: onLoss) {
            let writer = RecordingWriter(video: video, audio: audio, frames: frames, stream: stream)
            return SinkQueue.Work(
                take: { writer.write($0.frame, senderTime: $0.senderTime, presentAt: $0.presentAt, $0.rotation) },
                end: { writer.finish($0) })
        }
    }

    var isClosed: Bool { stream.isClosed }

    /// Takes a frame in decoding order; `senderTime` is its `pts` on the clock that both tracks share, µs.
    func take(_ frame: MediaFrame, senderTime: Int64, presentAt: NIODeadline) {
        _ = queue.give(
            Entry(
                frame: frame, senderTime: senderTime, presentAt: presentAt, rotation: rotation.withLock { $0 }),
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

    func turned(_ rotation: PictureRotation) { self.rotation.withLock { $0 = rotation } }

    var needsKeyFrame: Bool { lacking.withLock { $0 != nil } && !isClosed }

    func end(_ reason: IoTError?) {
        queue.end(reason)
    }
}
