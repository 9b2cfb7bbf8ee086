import Crypto

/// The SHA-256 fingerprint of a certificate.
public struct CertificateDigest: Hashable, Sendable, CustomStringConvertible {
    private let bytes: [UInt8]

    /// - Parameter der: The certificate in DER.
    public init(der: [UInt8]) {
        bytes = Array(SHA256.hash(data: der))
    }

    /// - Parameter text: 64 hexadecimal digits, with or without colons; `nil` for anything else.
    public init?(_ text: String) {
        guard let bytes = Hex.decode(text.filter { $0 != ":" }), bytes.count == SHA256.byteCount else { return nil }
        self.bytes = bytes
    }

    /// The fingerprint in the form of `openssl x509 -fingerprint -sha256`: `AA:BB:…`.
    public var description: String {
        bytes.map { Hex.encode([$0]).uppercased() }.joined(separator: ":")
    }
}
