/// The fingerprint of a public key, which people compare: SHA-256 of its SubjectPublicKeyInfo (RFC 5280 §4.1.2.7), 32
/// bytes.
///
/// The text is `SHA256:` and base64 without padding, the form that ssh uses for host keys. It has 50 characters, which
/// fit into a table's line and a TXT string.
public struct KeyFingerprint: Sendable, Hashable, CustomStringConvertible {
    private static let prefix = "SHA256:"
    public static let byteCount = 32

    public let bytes: [UInt8]

    /// - Returns: `nil` if there are not exactly 32 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Accepts only the form that `description` writes, so that each fingerprint has exactly one text.
    public init?(_ text: some StringProtocol) {
        guard text.hasPrefix(Self.prefix), let bytes = Base64.decode(text.dropFirst(Self.prefix.count)),
            let fingerprint = Self(bytes: bytes), fingerprint.description == text
        else { return nil }
        self = fingerprint
    }

    public var description: String {
        Self.prefix + Base64.encode(bytes).prefix { $0 != "=" }
    }
}

extension KeyFingerprint: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let fingerprint = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a fingerprint is SHA256: and 43 characters of base64")
        }
        self = fingerprint
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
