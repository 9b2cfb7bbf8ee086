/// What people compare of a public key: SHA-256 of its SubjectPublicKeyInfo (RFC 5280 §4.1.2.7), 32 bytes.
///
/// Written as `SHA256:` and base64 without padding, as ssh writes fingerprints: 50 characters, short enough for a line
/// of a table and for a TXT string, and known to who has ever accepted a host key.
public struct KeyFingerprint: Sendable, Hashable, CustomStringConvertible {
    private static let prefix = "SHA256:"
    public static let byteCount = 32

    public let bytes: [UInt8]

    /// - Returns: `nil` for another number of bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Reads what `description` writes, and only that: two texts of one fingerprint would not be compared as equal.
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
