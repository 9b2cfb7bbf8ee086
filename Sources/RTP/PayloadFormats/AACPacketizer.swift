package import IoTCore
package import NIOCore

/// AAC in mode AAC-hbr (RFC 3640 §3.3.6): each packet holds one access unit or a fragment of one.
package struct AACPacketizer {
    package let maximumPayloadSize: Int

    package init(maximumPayloadSize: Int) { self.maximumPayloadSize = maximumPayloadSize }

    /// The largest value of the 13-bit field AU-size.
    static let maximumUnitSize = 8_191

    /// AU-headers-length and one AU-header.
    static let headerSize = 4

    package func payloads(of frame: MediaFrame) throws(IoTError) -> [ByteBuffer] {
        var rest = frame.bytes
        let unitSize = rest.readableBytes
        guard unitSize <= Self.maximumUnitSize else {
            throw IoTError(.mediaFailed, "an AAC access unit of \(unitSize) bytes is too long for RTP")
        }
        let limit = maximumPayloadSize - Self.headerSize
        let count = max((unitSize + limit - 1) / limit, 1)
        let size = (unitSize + count - 1) / count
        var builder = PayloadBuilder(capacity: unitSize + count * Self.headerSize)
        while rest.readableBytes > 0, let piece = rest.readSlice(length: min(size, rest.readableBytes)) {
            builder.add { buffer in
                // §3.2.3: each fragment's header holds the size of the whole access unit; its AU-Index is 0.
                buffer.writeMultipleIntegers(UInt16(16), UInt16(truncatingIfNeeded: unitSize << 3))
                buffer.writeImmutableBuffer(piece)
            }
        }
        return builder.payloads()
    }
}
