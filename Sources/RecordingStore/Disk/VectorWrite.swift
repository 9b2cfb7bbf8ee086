import Glibc
import NIOCore

/// Writes several buffers with as few system calls as possible, and continues after short writes.
struct VectorWrite {
    /// The most buffers of one call; Linux takes 1,024 (IOV_MAX).
    private static let mostBuffers = 1_024

    private var buffers: ArraySlice<ByteBuffer>
    private var offset: Int64

    init(buffers: [ByteBuffer], offset: Int64) {
        self.buffers = buffers.filter { $0.readableBytes > 0 }[...]
        self.offset = offset
    }

    var isComplete: Bool { buffers.isEmpty }

    /// Makes one call.
    ///
    /// - Returns: What pwritev(2) returned.
    mutating func write(to file: Int32) -> Int {
        var vectors: [iovec] = []
        vectors.reserveCapacity(min(buffers.count, Self.mostBuffers))
        let count = Self.withVectors(buffers.prefix(Self.mostBuffers), &vectors) { vectors in
            pwritev(file, vectors.baseAddress, Int32(vectors.count), off_t(offset))
        }
        if count > 0 { advance(count) }
        return count
    }

    private mutating func advance(_ count: Int) {
        offset += Int64(count)
        var rest = count
        while rest > 0, let first = buffers.first {
            guard first.readableBytes <= rest else {
                buffers[buffers.startIndex].moveReaderIndex(forwardBy: rest)
                return
            }
            rest -= first.readableBytes
            buffers.removeFirst()
        }
    }

    /// The buffers' memory stays valid only inside nested calls, one for each buffer.
    private static func withVectors(
        _ buffers: ArraySlice<ByteBuffer>, _ vectors: inout [iovec], _ body: (UnsafeBufferPointer<iovec>) -> Int
    ) -> Int {
        guard let first = buffers.first else { return vectors.withUnsafeBufferPointer(body) }
        return first.withUnsafeReadableBytes { bytes in
            vectors.append(
                iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count))
            return withVectors(buffers.dropFirst(), &vectors, body)
        }
    }
}
