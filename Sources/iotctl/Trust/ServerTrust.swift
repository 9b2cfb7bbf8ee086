import IoTCore
import NIOSSL

/// The certificates of another machine's daemon that are accepted.
enum ServerTrust: Sendable {
    /// Certificates from the authorities that this system trusts.
    case system
    /// Certificates from the authority in this PEM file only.
    case authorityFile(String)
    /// A certificate that the user has accepted.
    case pinned(TrustedCertificate)

    /// - Throws: `.fileFailed` if the file cannot be used.
    func configuration() throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        switch self {
        case .system: break
        case .authorityFile(let file):
            do {
                configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(file))
            } catch {
                throw IoTError(.fileFailed, "--ca: \(file) is not a certificate in PEM", underlying: error)
            }
        case .pinned(let certificate):
            do {
                return try certificate.configuration()
            } catch {
                throw IoTError(
                    .fileFailed, "\(KnownHosts.path()) holds bytes that are not a certificate",
                    remedy: "remove the line of this host", underlying: error)
            }
        }
        return configuration
    }
}
