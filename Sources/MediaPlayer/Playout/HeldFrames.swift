import IoTCore
import NIOCore

/// A frame that waits for its time.
struct HeldFrame {
    var frame: MediaFrame

    /// µs on the track's own line.
    var decodingTime: Int64

    /// When it could first be decoded: complete, and all before it complete.
    var readyAt: Int64

    /// The offset to the common line, once the track has moved to another; nil: the track's present one.
    var fixedOffset: Int64?

    var discontinuity: DiscontinuityReason?

    /// It came when it was due already: the line makes room for those behind it. Sound is not heard then, as its
    /// moment was concealed.
    var cameLate = false
}

/// The frames of one track that wait, in decoding order.
struct HeldFrames {
    private var frames = CircularBuffer<HeldFrame>()
    private(set) var byteCount = 0

    var count: Int { frames.count }
    var first: HeldFrame? { frames.first }

    mutating func append(_ frame: HeldFrame) {
        byteCount += frame.frame.bytes.readableBytes
        frames.append(frame)
    }

    mutating func popFirst() -> HeldFrame? {
        guard let frame = frames.popFirst() else { return nil }
        byteCount -= frame.frame.bytes.readableBytes
        return frame
    }

    /// What is held keeps its place on the common line while the track takes another offset.
    mutating func fix(offset: Int64) {
        for index in frames.indices where frames[index].fixedOffset == nil {
            frames[index].fixedOffset = offset
        }
    }
}
