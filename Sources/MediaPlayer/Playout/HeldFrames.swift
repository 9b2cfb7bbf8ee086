import IoTCore
import NIOCore

/// A frame that waits for its release.
struct HeldFrame {
    var frame: MediaFrame

    /// µs on the track's own time line.
    var decodingTime: Int64

    /// The earliest time at which it could be decoded: it is complete, and so are all frames before it.
    var readyAt: Int64

    /// The offset to the common time line, if the track's offset has changed since; nil: the track's current offset.
    var fixedOffset: Int64?

    var discontinuity: DiscontinuityReason?

    /// It came after it was due: the tolerance rises, so that the frames after it are on time. Late sound is not heard,
    /// because its time was already concealed.
    var cameLate = false
}

/// The waiting frames of one track, in decoding order.
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

    /// Held frames keep their place on the common time line when the track's offset changes.
    mutating func fix(offset: Int64) {
        for index in frames.indices where frames[index].fixedOffset == nil {
            frames[index].fixedOffset = offset
        }
    }
}
