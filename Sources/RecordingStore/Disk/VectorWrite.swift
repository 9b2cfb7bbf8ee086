import Glibc
import NIOCore

/// Writes several buffers with as few system calls as possible, and continues after short writes.
struct VectorWrite {
    /// The most buffers of one call; Linux takes 1,024 (IOV_MAX).
    private static let mostBuffers = 1_024

    private let buffers: [ByteBuffer]
    private var offset: Int64
    /// The first buffer that is not written whole, and how much of it is.
    private var first = 0
    private var written = 0

    init(buffers: [ByteBuffer], offset: Int64) {
        self.buffers = buffers
        self.offset = offset
        advance(0)
    }

    var isComplete: Bool { first == buffers.count }

    /// Makes one call.
    ///
    /// - Parameter call: pwritev(2) with these buffers at this place of the file.
    /// - Returns: what it returned.
    mutating func write(_ call: (_ vectors: UnsafeBufferPointer<iovec>, _ offset: Int64) -> Int) -> Int {
        var vectors: [iovec] = []
        vectors.reserveCapacity(min(buffers.count - first, Self.mostBuffers))
        let count = withVectors(&vectors) { call($0, offset) }
        if count > 0 { advance(count) }
        return count
    }

    private mutating func advance(_ count: Int) {
        offset += Int64(count)
        written += count
        while first < buffers.count, buffers[first].readableBytes <= written {
            written -= buffers[first].readableBytes
            first += 1
        }
    }

    /// The buffers' memory stays valid only inside nested calls, one for each buffer.
    private func withVectors(_ vectors: inout [iovec], _ body: (UnsafeBufferPointer<iovec>) -> Int) -> Int {
        let place = first + vectors.count
        guard place < buffers.count, vectors.count < Self.mostBuffers else {
            return vectors.withUnsafeBufferPointer(body)
        }
        return buffers[place].withUnsafeReadableBytes { bytes in
            let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(vectors.isEmpty ? written : 0))
            vectors.append(
                iovec(iov_base: UnsafeMutableRawPointer(mutating: rest.baseAddress), iov_len: rest.count))
            return withVectors(&vectors, body)
        }
    }
}
