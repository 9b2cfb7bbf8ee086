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
        let pairs = text.split(separator: ":", omittingEmptySubsequences: false)
        guard pairs.count == 1 || pairs.allSatisfy({ $0.utf8.count == 2 }), let bytes = Hex.decode(pairs.joined()),
            bytes.count == SHA256.byteCount
        else { return nil }
        self.bytes = bytes
    }

    /// The fingerprint in the form of `openssl x509 -fingerprint -sha256`: `AA:BB:…`.
    public var description: String {
        bytes.map { Hex.encode([$0]).uppercased() }.joined(separator: ":")
    }
}
