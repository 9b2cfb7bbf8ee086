package import IoTCore
package import IoTLink

/// A certificate for one key, signed by that key (RFC 5280, RFC 8410). TLS needs one to prove the key; nothing else in it
/// counts. It is valid at every time, because a box without a battery clock may not know the time.
package enum LANCertificate {
    /// `SEQUENCE { OBJECT IDENTIFIER 1.3.101.112 }`: Ed25519 (RFC 8410 §3).
    private static let algorithm: [UInt8] = [0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70]
    private static let commonName: [UInt8] = [0x06, 0x03, 0x55, 0x04, 0x03]

    /// - Returns: DER.
    /// - Throws: `internalFailure`.
    package static func make(for key: DeviceKey) throws(IoTError) -> [UInt8] {
        let name = tagged(
            0x30, tagged(0x31, tagged(0x30, commonName + tagged(0x0C, Array("iotvideod".utf8)))))
        // RFC 5280 §4.1.2.5: dates from 2050 on are GeneralizedTime, and this one means that there is no end.
        let validity = tagged(
            0x30,
            tagged(0x17, Array("000101000000Z".utf8)) + tagged(0x18, Array("99991231235959Z".utf8)))
        let version = tagged(0xA0, [0x02, 0x01, 0x02])
        let serial: [UInt8] = [0x02, 0x01, 0x01]
        let content = tagged(
            0x30,
            version + serial + algorithm + name + validity + name + key.publicKey.subjectPublicKeyInfo)
        let signature = try key.signature(of: content)
        return tagged(0x30, content + algorithm + tagged(0x03, [0x00] + signature))
    }

    /// One element of DER, of at most 65,535 bytes.
    private static func tagged(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length: [UInt8] =
            switch content.count {
            case ..<0x80: [UInt8(content.count)]
            case ..<0x100: [0x81, UInt8(content.count)]
            default: [0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)]
            }
        return [tag] + length + content
    }
}
