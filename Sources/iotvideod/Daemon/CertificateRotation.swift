import PeerTransport
import ServiceLifecycle

/// Gives new connections a new certificate every day.
struct CertificateRotation: Service {
    let certificates: PeerCertificatePool

    func run() async throws {
        await cancelWhenGracefulShutdown { await certificates.run() }
    }
}
