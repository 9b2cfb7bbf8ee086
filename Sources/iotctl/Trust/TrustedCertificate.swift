import Crypto
import Foundation
import NIOSSL

/// A certificate that a user has said to trust.
struct TrustedCertificate: Equatable, Sendable {
    /// Whether it is the server's own, or an authority's whose certificates name hosts.
    enum Kind: String, Sendable {
        case certificate
        case authority
    }

    let kind: Kind
    let der: [UInt8]

    /// As `openssl x509 -fingerprint -sha256` prints it.
    var fingerprint: String { Self.fingerprint(der) }

    static func fingerprint(_ der: [UInt8]) -> String {
        SHA256.hash(data: der).map { String(format: "%02X", $0) }.joined(separator: ":")
    }

    /// Trusts this certificate and no other.
    ///
    /// - Throws: an error of the library for bytes that are not a certificate.
    func configuration() throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.trustRoots = .certificates([try NIOSSLCertificate(bytes: der, format: .der)])
        // The certificate itself is the identity. An authority's name many hosts, so theirs is checked.
        if kind == .certificate { configuration.certificateVerification = .noHostnameVerification }
        return configuration
    }
}
