import NIOCore

/// Buffers of sent datagrams for reuse, so that sending a packet allocates nothing.
///
/// Not Sendable: confined to one event loop; its peers share the pool.
package final class DatagramPool {
    /// Holds a datagram of 1200 bytes, with room for encryption.
    static let capacity = 1_500

    /// The maximum number of buffers: a few more than one flush needs. At 2 KiB each, 1 MiB.
    static let maximumCount = 512

    private var buffers: [ByteBuffer] = []

    package init() {}

    /// The number of buffers in the pool.
    var count: Int { buffers.count }

    /// An empty buffer with room for `capacity` bytes.
    func take(_ capacity: Int = DatagramPool.capacity) -> ByteBuffer {
        var buffer = buffers.popLast() ?? ByteBuffer()
        buffer.reserveCapacity(max(capacity, Self.capacity))
        return buffer
    }

    /// Takes a buffer that has no other owner; a shared one would be copied at its next use.
    func give(_ buffer: consuming ByteBuffer) {
        guard buffers.count < Self.maximumCount, buffer.storageCapacity >= Self.capacity,
            buffer.storageCapacity <= 4 * Self.capacity
        else { return }
        buffer.clear()
        buffers.append(buffer)
    }
}
