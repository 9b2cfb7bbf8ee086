import IoTCore

/// The identifiers of messages.
enum WSDIdentifier {
    /// A random UUID (RFC 9562 §5.4) as an address.
    static func random(using generator: inout some RandomNumberGenerator) -> String {
        var bytes: [UInt8] = []
        for _ in 0..<16 { bytes.append(UInt8.random(in: .min ... .max, using: &generator)) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return address(Hex.encode(bytes))
    }

    /// 32 hex digits as `urn:uuid:8-4-4-4-12`.
    static func address(_ digits: String) -> String {
        var text = "urn:uuid:"
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text += "-" }
            text.append(digit)
        }
        return text
    }
}
