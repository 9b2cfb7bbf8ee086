import NIOCore

// The methods of TURN (RFC 8656 §17).
extension STUNMessage {
    static let allocateMethod: UInt16 = 0x003
    static let refreshMethod: UInt16 = 0x004
    static let sendMethod: UInt16 = 0x006
    static let dataMethod: UInt16 = 0x007
    static let createPermissionMethod: UInt16 = 0x008
    static let channelBindMethod: UInt16 = 0x009

    /// A Send indication without FINGERPRINT, which saves 8 bytes for the payload.
    static func sendIndication(
        _ payload: ByteBuffer, to peer: SocketAddress, transactionID: STUNTransactionID
    ) -> ByteBuffer {
        var body = ByteBuffer()
        body.reserveCapacity(64 + payload.readableBytes)
        // Method 6, class 1.
        body.writeInteger(UInt16(0x0016))
        body.writeInteger(UInt16(0))
        body.writeInteger(magicCookie)
        body.writeInteger(transactionID.high)
        body.writeInteger(transactionID.low)
        STUNAttribute.xorPeerAddress(peer).write(into: &body, transactionID: transactionID)
        STUNAttribute.data(payload).write(into: &body, transactionID: transactionID)
        body.setInteger(UInt16(truncatingIfNeeded: body.readableBytes - headerByteCount), at: body.readerIndex + 2)
        return body
    }
}
