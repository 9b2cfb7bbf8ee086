import IoTCore
import NIOCore

/// A STUN message (RFC 8489 §5).
struct STUNMessage: Sendable {
    static let magicCookie: UInt32 = 0x2112_A442
    static let headerByteCount = 20

    /// The two class bits of the message type.
    enum Class: UInt16, Sendable {
        case request = 0
        case indication = 1
        case successResponse = 2
        case errorResponse = 3
    }

    static let bindingMethod: UInt16 = 0x001

    var messageClass: Class
    var method: UInt16
    var transactionID: STUNTransactionID
    var attributes: [STUNAttribute]

    /// The input of a received message's integrity check: the bytes before the attribute, and the hash.
    private struct Integrity {
        var covered: [UInt8]
        var code: [UInt8]
    }

    private var integrity: Integrity?
    private var integritySHA256: Integrity?

    /// True for a received message that ends with a correct FINGERPRINT.
    private(set) var hasFingerprint = false

    init(
        _ messageClass: Class, method: UInt16 = Self.bindingMethod, transactionID: STUNTransactionID,
        attributes: [STUNAttribute] = []
    ) {
        self.messageClass = messageClass
        self.method = method
        self.transactionID = transactionID
        self.attributes = attributes
    }

    /// Parses one datagram. Its content must not be trusted before `isAuthentic(key:)`.
    init(parsing datagram: ByteBuffer) throws(IoTError) {
        let bytes = Array(datagram.readableBytesView)
        var buffer = datagram
        guard let type = buffer.readInteger(as: UInt16.self), type & 0xC000 == 0,
            let length = buffer.readInteger(as: UInt16.self), buffer.readInteger(as: UInt32.self) == Self.magicCookie,
            let high = buffer.readInteger(as: UInt32.self), let low = buffer.readInteger(as: UInt64.self),
            Int(length) == buffer.readableBytes, length & 3 == 0,
            // Never `nil`: two bits have four values.
            let messageClass = Class(rawValue: type >> 7 & 2 | type >> 4 & 1)
        else { throw Self.malformed("the header is invalid") }
        self.init(
            messageClass, method: type & 0x000F | type >> 1 & 0x0070 | type >> 2 & 0x0F80,
            transactionID: STUNTransactionID(high: high, low: low))
        while buffer.readableBytes > 0 {
            let offset = bytes.count - buffer.readableBytes
            guard let number = buffer.readInteger(as: UInt16.self), let size = buffer.readInteger(as: UInt16.self),
                let value = buffer.readSlice(length: Int(size)), buffer.readSlice(length: -Int(size) & 3) != nil
            else { throw Self.malformed("an attribute extends past the end") }
            switch number {
            case STUNAttribute.Number.fingerprint:
                guard buffer.readableBytes == 0,
                    value.getInteger(at: value.readerIndex) == Self.fingerprint(of: bytes[..<offset])
                else { throw Self.malformed("the fingerprint is wrong") }
                hasFingerprint = true
            case STUNAttribute.Number.messageIntegritySHA256 where integritySHA256 == nil:
                // May be truncated to 16 bytes or more (RFC 8489 §14.6).
                guard (16...32).contains(size), size & 3 == 0 else {
                    throw Self.malformed("MESSAGE-INTEGRITY-SHA256 has a wrong length")
                }
                integritySHA256 = Integrity(
                    covered: Self.covered(bytes[..<offset], codeByteCount: Int(size)),
                    code: Array(value.readableBytesView))
            case _ where integrity != nil || integritySHA256 != nil:
                // Attributes after the hash are not covered by it and must be ignored (RFC 8489 §14.5).
                continue
            case STUNAttribute.Number.messageIntegrity:
                guard size == MessageIntegrity.Algorithm.sha1.byteCount else {
                    throw Self.malformed("MESSAGE-INTEGRITY has a wrong length")
                }
                integrity = Integrity(
                    covered: Self.covered(bytes[..<offset], codeByteCount: Int(size)),
                    code: Array(value.readableBytesView))
            default:
                guard let attribute = STUNAttribute(number: number, value: value, transactionID: transactionID) else {
                    throw Self.malformed("attribute \(number) is malformed")
                }
                attributes.append(attribute)
            }
        }
    }

    /// True when the message has the algorithm's hash, made with this key.
    func isAuthentic(key: [UInt8], by algorithm: MessageIntegrity.Algorithm = .sha1) -> Bool {
        guard let integrity = algorithm == .sha1 ? integrity : integritySHA256 else { return false }
        let code = MessageIntegrity.authenticationCode(of: integrity.covered, key: key, algorithm: algorithm)
        return MessageIntegrity.areEqual(Array(code.prefix(integrity.code.count)), integrity.code)
    }

    /// True when the message has a hash, correct or not.
    var hasIntegrity: Bool { integrity != nil || integritySHA256 != nil }

    /// The encoded message: the attributes, the hash if there is a key, and FINGERPRINT.
    func datagram(key: [UInt8]? = nil, algorithm: MessageIntegrity.Algorithm = .sha1) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(160)
        let type = messageClass.rawValue
        buffer.writeInteger(
            (type & 2) << 7 | (type & 1) << 4 | method & 0x000F | (method & 0x0070) << 1 | (method & 0x0F80) << 2)
        buffer.writeInteger(UInt16(0))
        buffer.writeInteger(Self.magicCookie)
        buffer.writeInteger(transactionID.high)
        buffer.writeInteger(transactionID.low)
        for attribute in attributes {
            attribute.write(into: &buffer, transactionID: transactionID)
        }
        if let key {
            let code = MessageIntegrity.authenticationCode(
                of: Self.covered(buffer.readableBytesView, codeByteCount: algorithm.byteCount), key: key,
                algorithm: algorithm)
            STUNAttribute.other(type: algorithm.attributeNumber, value: code)
                .write(into: &buffer, transactionID: transactionID)
        }
        Self.setLength(of: &buffer, extra: 8)
        let fingerprint = Self.fingerprint(of: buffer.readableBytesView)
        buffer.writeInteger(STUNAttribute.Number.fingerprint)
        buffer.writeInteger(UInt16(4))
        buffer.writeInteger(fingerprint)
        return buffer
    }

    private static func setLength(of buffer: inout ByteBuffer, extra: Int) {
        let length = buffer.readableBytes - headerByteCount + extra
        buffer.setInteger(UInt16(truncatingIfNeeded: length), at: buffer.readerIndex + 2)
    }

    /// The bytes before the hash, with the header's length set to the end of the hash.
    private static func covered(_ bytes: some Collection<UInt8>, codeByteCount: Int) -> [UInt8] {
        var covered = Array(bytes)
        let length = covered.count - headerByteCount + 4 + codeByteCount
        covered[2] = UInt8(truncatingIfNeeded: length >> 8)
        covered[3] = UInt8(truncatingIfNeeded: length)
        return covered
    }

    private static func fingerprint(of bytes: some Sequence<UInt8>) -> UInt32 {
        CRC32.checksum(bytes) ^ 0x5354_554E
    }

    private static func malformed(_ reason: String) -> IoTError {
        IoTError(.peerFailed, "a STUN message is malformed: \(reason)")
    }
}
