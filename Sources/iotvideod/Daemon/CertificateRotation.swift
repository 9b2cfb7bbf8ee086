import PeerTransport
import ServiceLifecycle

/// Gives connections to come a new certificate each day.
struct CertificateRotation: Service {
    let certificates: PeerCertificatePool

    func run() async throws {
        await cancelWhenGracefulShutdown { await certificates.run() }
    }
}
