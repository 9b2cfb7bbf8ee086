import NIOCore

/// The bytes of a fragment's frames. Large frames stay in their own buffers and are not copied (pwritev(2)); small ones, as
/// those of sound, are copied into a common buffer, which costs less than to pass each one on.
struct SegmentPayload {
    /// Also a common buffer's first size: one small frame between large ones must not take much more than it has.
    private static let mostCopied = 1_024

    private(set) var buffers: [ByteBuffer] = []
    private(set) var byteCount = 0
    /// Whether the last buffer is a common one.
    private var isCommon = false

    mutating func append(_ bytes: ByteBuffer) {
        byteCount += bytes.readableBytes
        let isSmall = bytes.readableBytes <= Self.mostCopied
        if isSmall, !isCommon { buffers.append(ByteBufferAllocator().buffer(capacity: Self.mostCopied)) }
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
