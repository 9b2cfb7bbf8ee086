import NIOCore

/// Writes all payloads of a frame into a single buffer and returns them as slices: one allocation per frame.
struct PayloadBuilder {
    private var buffer: ByteBuffer
    private var ends: [Int] = []

    init(capacity: Int) {
        buffer = ByteBufferAllocator().buffer(capacity: capacity)
    }

    /// Writes one whole payload.
    mutating func add(_ write: (inout ByteBuffer) -> Void) {
        write(&buffer)
        ends.append(buffer.writerIndex)
    }

    func payloads() -> [ByteBuffer] {
        var start = 0
        return ends.compactMap { end in
            defer { start = end }
            return buffer.getSlice(at: start, length: end - start)
        }
    }
}
