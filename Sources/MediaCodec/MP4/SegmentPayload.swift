import NIOCore

/// The bytes of a fragment's frames. Large frames stay in their own buffers and are not copied (pwritev(2)); small ones, as
/// those of sound, are copied into a common buffer, which costs less than to pass each one on.
struct SegmentPayload {
    private static let mostCopied = 1_024

    private(set) var buffers: [ByteBuffer] = []
    private(set) var byteCount = 0
    /// Whether the last buffer is a common one.
    private var isCommon = false
    /// A common buffer's first size. One small frame between large ones must not take much more than it has.
    private let firstSize: Int

    init() {
        firstSize = Self.mostCopied
    }

    /// Empty, with space for as much as the fragment before had.
    init(like previous: SegmentPayload) {
        let isAllCommon = previous.isCommon && previous.buffers.count == 1
        firstSize = isAllCommon ? previous.byteCount + Self.mostCopied : Self.mostCopied
        buffers.reserveCapacity(previous.buffers.count)
    }

    mutating func append(_ bytes: ByteBuffer) {
        byteCount += bytes.readableBytes
        let isSmall = bytes.readableBytes <= Self.mostCopied
        if isSmall, !isCommon { buffers.append(ByteBufferAllocator().buffer(capacity: firstSize)) }
        isCommon = isSmall
        guard isSmall else { return buffers.append(bytes) }
        bytes.withUnsafeReadableBytes { source in
            // Not `writeBuffer`, which takes several times as long.
            buffers[buffers.count - 1].writeWithUnsafeMutableBytes(minimumWritableBytes: source.count) { space in
                space.copyMemory(from: source)
                return source.count
            }
        }
    }
}
