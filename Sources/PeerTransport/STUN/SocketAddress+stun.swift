import NIOCore

// The encoding of an address in MAPPED-ADDRESS and XOR-MAPPED-ADDRESS (RFC 8489 §14.1, §14.2).
extension SocketAddress {
    private static let familyIPv4: UInt8 = 1
    private static let familyIPv6: UInt8 = 2

    /// Returns `nil` for another family or a wrong length.
    init?(readingSTUN buffer: inout ByteBuffer, xor transactionID: STUNTransactionID?) {
        guard buffer.readInteger(as: UInt8.self) != nil, let family = buffer.readInteger(as: UInt8.self),
            let port = buffer.readInteger(as: UInt16.self)
        else { return nil }
        let length = family == Self.familyIPv4 ? 4 : family == Self.familyIPv6 ? 16 : 0
        guard length > 0, buffer.readableBytes == length, var bytes = buffer.readBytes(length: length) else {
            return nil
        }
        Self.exclusiveOr(&bytes, with: transactionID)
        let mask = transactionID == nil ? 0 : UInt16(STUNMessage.magicCookie >> 16)
        guard let address = try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: Int(port ^ mask))
        else { return nil }
        self = address
    }

    func writeSTUN(into buffer: inout ByteBuffer, xor transactionID: STUNTransactionID?) {
        var bytes = packedIPBytes
        buffer.writeInteger(UInt8(0))
        buffer.writeInteger(bytes.count == 4 ? Self.familyIPv4 : Self.familyIPv6)
        let mask = transactionID == nil ? 0 : UInt16(STUNMessage.magicCookie >> 16)
        buffer.writeInteger(UInt16(truncatingIfNeeded: port ?? 0) ^ mask)
        Self.exclusiveOr(&bytes, with: transactionID)
        buffer.writeBytes(bytes)
    }

    private static func exclusiveOr(_ bytes: inout [UInt8], with transactionID: STUNTransactionID?) {
        guard let transactionID else { return }
        let mask = (0..<4).map { UInt8(truncatingIfNeeded: STUNMessage.magicCookie >> (24 - 8 * $0)) }
        for (index, byte) in (mask + transactionID.bytes).enumerated() where index < bytes.count {
            bytes[index] ^= byte
        }
    }

    /// 4 or 16 bytes in network order; empty for a Unix socket.
    var packedIPBytes: [UInt8] {
        switch self {
        case .v4(let address):
            // The address follows the family and port (ip(7)).
            withUnsafeBytes(of: address.address) { Array($0[4..<8]) }
        case .v6(let address):
            // The address follows the family, port and flow label (ipv6(7)).
            withUnsafeBytes(of: address.address) { Array($0[8..<24]) }
        case .unixDomainSocket:
            []
        }
    }

    var isIPv4: Bool {
        if case .v4 = self { true } else { false }
    }

    /// True for 127.0.0.0/8 and ::1.
    var isLoopback: Bool {
        let bytes = packedIPBytes
        if bytes.count == 4 { return bytes[0] == 127 }
        return bytes.count == 16 && bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
    }
}
