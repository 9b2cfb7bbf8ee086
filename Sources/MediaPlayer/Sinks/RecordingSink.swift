import IoTCore
import MediaCodec
import NIOCore

/// Writes coded frames, as they came, as fragmented MP4, on a thread of its own. After frames that a slow reader lost it
/// goes on with a key frame; the picture before them stands for as long.
final class RecordingSink: Recorder {
    /// What may wait for the reader: a minute, 16 MiB.
    static let limits = SinkLimits(duration: 60_000_000, bytes: 16 << 20)

    private struct Entry: Sendable {
        let frame: MediaFrame
        let senderTime: Int64
        let presentAt: NIODeadline
    }

    let stream: ChunkStream
    private let hasVideo: Bool
    private let queue: SinkQueue<Entry>

    /// - Parameters:
    ///   - frames: ends after this many pictures and their sound; with B-frames after the group in which the last of
    ///     them is, since a picture that others refer to comes before those that are shown before it.
    ///   - onLoss: called when a frame is dropped and the one before it was not.
    init(
        video: VideoParameters?, audio: AudioParameters?, frames: Int? = nil, limits: SinkLimits = limits,
        parts: PlayerParts = PlayerParts(), onLoss: @escaping @Sendable () -> Void = {}
    ) {
        hasVideo = video != nil
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
            Entry(frame: frame, senderTime: senderTime, presentAt: presentAt), at: presentAt.playoutMicroseconds,
            bytes: frame.bytes.readableBytes, isStart: !hasVideo || frame.kind == .video && frame.isKeyFrame)
    }

    func end(_ reason: IoTError?) {
        queue.end(reason)
    }
}
