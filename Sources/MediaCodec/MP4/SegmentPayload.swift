import NIOCore

/// The bytes of a fragment's frames. Large frames stay in their own buffers and are not copied (pwritev(2)); small ones, as
/// those of sound, are copied into a common buffer, which costs less than to pass each one on.
struct SegmentPayload {
    private static let mostCopied = 1_024
    private static let firstCapacity = 8_192

    private(set) var buffers: [ByteBuffer] = []
    private(set) var byteCount = 0
    /// Whether the last buffer is a common one.
    private var isCommon = false

    mutating func append(_ bytes: ByteBuffer) {
        byteCount += bytes.readableBytes
        let isSmall = bytes.readableBytes <= Self.mostCopied
        if isSmall, !isCommon { buffers.append(ByteBufferAllocator().buffer(capacity: Self.firstCapacity)) }
        isCommon = isSmall
        if isSmall { buffers[buffers.count - 1].writeImmutableBuffer(bytes) } else { buffers.append(bytes) }
    }
}
