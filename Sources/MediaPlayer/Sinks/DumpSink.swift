import IoTCore
import MediaCodec
import NIOCore

/// Writes the coded frames of one track on its own thread. Video begins with a key frame, also after a slow reader lost
/// frames.
final class DumpSink: Sendable {
    /// The limits of what waits for the reader.
    static let limits = SinkLimits(duration: 20_000_000, bytes: 4 << 20)

    let stream: ChunkStream
    private let queue: SinkQueue<MediaFrame>

    init(
        _ writer: ElementaryStreamWriter, parts: PlayerParts, onLoss: @escaping @Sendable () -> Void = {},
        onFailure: @escaping @Sendable (IoTError) -> Void = { _ in }
    ) {
        let stream = ChunkStream(Self.limits, onFailure: onFailure)
        self.stream = stream
        queue = SinkQueue(name: "dump", .stream(stream), parts: parts, onLoss: onLoss) {
            var writer = writer
            var hasBegun = false
            return SinkQueue.Work(
                take: { frame in
                    hasBegun = hasBegun || frame.isKeyFrame
                    guard hasBegun else {
                        stream.letGo()
                        return true
                    }
                    return stream.write(writer.write(frame))
                },
                end: { reason in if let reason { stream.fail(reason) } else { stream.finish() } })
        }
    }

    /// Returns false when the sink has ended.
    func take(_ frame: MediaFrame) -> Bool {
        queue.give(frame, at: frame.pts, bytes: frame.bytes.readableBytes, isStart: frame.isKeyFrame)
    }

    func end(_ reason: IoTError?) { queue.end(reason) }
}

/// A sink for the frames that pass one point of the player.
public struct FrameDump {
    public enum Point: Sendable {
        /// As they arrived, before the jitter buffer.
        case received
        /// As the decoder gets them.
        case intoDecoder
    }

    let point: Point
    let kind: MediaKind
    let sink: DumpSink
}
