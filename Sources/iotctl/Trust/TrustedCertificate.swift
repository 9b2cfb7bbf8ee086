import IoTCore
import NIOSSL

/// A certificate that a user has accepted.
struct TrustedCertificate: Equatable, Sendable {
    /// Whether it is the server's own certificate or an authority's.
    enum Kind: String, Sendable {
        case certificate
        case authority
    }

    let kind: Kind
    let der: [UInt8]

    /// The fingerprint in the format of `openssl x509 -fingerprint -sha256`.
    var fingerprint: String { Self.fingerprint(der) }

    static func fingerprint(_ der: [UInt8]) -> String {
        CertificateDigest(der: der).description
    }

    /// Trusts this certificate and no other.
    ///
    /// - Throws: an error of the library if the bytes are not a certificate.
    func configuration() throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.trustRoots = .certificates([try NIOSSLCertificate(bytes: der, format: .der)])
        // A server's own certificate is its identity. An authority's certificates name many hosts, so the name is
        // checked.
        if kind == .certificate { configuration.certificateVerification = .noHostnameVerification }
        return configuration
    }
}
