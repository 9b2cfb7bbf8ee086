import NIOCore

/// Buffers of datagrams that have left, for the next ones: sending a packet then allocates nothing.
///
/// Not Sendable: confined to one event loop, whose peers share it.
final class DatagramPool {
    /// A datagram of 1200 bytes fits with room for what protects it.
    static let capacity = 1_500

    /// Buffers kept, at most: some more than one flush takes. With 2 KiB each, 1 MiB.
    static let maximumCount = 512

    private var buffers: [ByteBuffer] = []

    /// How many buffers lie here.
    var count: Int { buffers.count }

    /// An empty buffer with room for `capacity` bytes.
    func take(_ capacity: Int = DatagramPool.capacity) -> ByteBuffer {
        var buffer = buffers.popLast() ?? ByteBuffer()
        buffer.reserveCapacity(max(capacity, Self.capacity))
        return buffer
    }

    /// Takes back a buffer that nobody else holds; one that is shared would be copied at its next use.
    func give(_ buffer: consuming ByteBuffer) {
        guard buffers.count < Self.maximumCount, buffer.storageCapacity >= Self.capacity,
            buffer.storageCapacity <= 4 * Self.capacity
        else { return }
        buffer.clear()
        buffers.append(buffer)
    }
}
