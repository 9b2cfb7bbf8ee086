package import NIOCore

/// A part of a segment that is appended at once: the boxes `prft`, `moof` and `mdat`. A segment is readable up to its
/// last whole fragment.
package struct Fragment: Sendable {
    /// The boxes' heads, then the frames' own buffers, so that no frame is copied (pwritev(2)).
    package var bytes: [ByteBuffer]
    package var byteCount: Int
    /// µs on the source's clock. A fragment starts where the one before it ends.
    package var mediaStart: Int64
    /// µs.
    package var mediaDuration: Int64
    /// The wall-clock time of `mediaStart`, µs since 1970.
    package var wallClock: Int64
    /// Whether a decoder can start here. A fragment without video can always be decoded alone.
    package var startsWithKeyFrame: Bool

    package init(
        bytes: [ByteBuffer], byteCount: Int, mediaStart: Int64, mediaDuration: Int64, wallClock: Int64,
        startsWithKeyFrame: Bool
    ) {
        self.bytes = bytes
        self.byteCount = byteCount
        self.mediaStart = mediaStart
        self.mediaDuration = mediaDuration
        self.wallClock = wallClock
        self.startsWithKeyFrame = startsWithKeyFrame
    }
}

/// What ends a segment. Written in this order, each durable before the next, it leaves a readable file at any moment.
package struct SegmentClosing: Sendable {
    /// The `moov` with all sample tables: appended after the last fragment.
    package var movie: ByteBuffer
    /// Where `head` is written. Until then a reader ignores `movie`, or finds it after the fragments.
    package var headOffset: Int64
    /// 16 bytes that turn the placeholder into the head of an `mdat` of 64-bit size, which hides the fragments.
    package var head: ByteBuffer
}

/// What a segment is made for.
package enum SegmentForm: Sendable {
    /// A file: it can be closed, and its sound may begin before its first picture.
    case file
    /// A stream that nobody can seek back in: fragments only.
    case stream
}
