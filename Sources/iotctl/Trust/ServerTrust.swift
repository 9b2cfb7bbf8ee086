import IoTCore
import NIOSSL

/// Which certificates of another machine's daemon are accepted.
enum ServerTrust: Sendable {
    /// Those of the authorities that this machine's system trusts.
    case system
    /// Those of the only authority in this PEM file.
    case authorityFile(String)
    /// One that the user has said to trust.
    case pinned(TrustedCertificate)

    /// - Throws: `.fileFailed` for a file that cannot be used.
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
