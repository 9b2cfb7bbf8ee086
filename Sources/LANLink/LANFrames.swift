package import IoTCore
package import NIOCore

/// Cuts the bytes of a connection into messages: four bytes of length in network order, and an envelope of that size.
package struct LANFrames: Sendable {
    private static let lengthSize = 4
    private static let discardSize = 65_536

    /// The largest message that is accepted, in bytes. A connection that has not begun has a smaller bound.
    package var limit: Int
    private var received = ByteBuffer()

    package init(limit: Int) {
        self.limit = limit
    }

    package mutating func append(_ bytes: ByteBuffer) {
        var bytes = bytes
        received.writeBuffer(&bytes)
    }

    /// The next message; `nil` until more bytes have come.
    ///
    /// - Throws: 25013 for a message above the limit. The rest of the connection cannot be read then.
    package mutating func next() throws(IoTError) -> [UInt8]? {
        guard let length = received.getInteger(at: received.readerIndex, as: UInt32.self) else { return nil }
        guard length <= limit else {
            throw IoTError(.payloadTooLarge, "a message of \(length) bytes is above the limit of \(limit)")
        }
        guard received.readableBytes >= Self.lengthSize + Int(length) else { return nil }
        received.moveReaderIndex(forwardBy: Self.lengthSize)
        let message = received.readBytes(length: Int(length))
        // Not after each message, because the bytes after it would be moved each time.
        if received.readableBytes == 0 {
            received.clear()
        } else if received.readerIndex > Self.discardSize {
            received.discardReadBytes()
        }
        return message
    }

    package static func frame(_ message: [UInt8]) -> ByteBuffer {
        var bytes = ByteBuffer()
        bytes.reserveCapacity(lengthSize + message.count)
        bytes.writeInteger(UInt32(message.count))
        bytes.writeBytes(message)
        return bytes
    }
}
