import NIOCore

/// One coded frame on its way into a segment.
struct SegmentFrame {
    var sample: SegmentSample
    /// The first part of its bytes, usually all of them.
    var bytes: ByteBuffer
    /// The rest, where something was left out.
    var otherBytes: [ByteBuffer] = []
}
