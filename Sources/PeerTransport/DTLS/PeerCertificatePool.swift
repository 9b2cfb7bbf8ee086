public import IoTCore
import Synchronization

/// The certificate for new connections, made ahead of time and rotated regularly.
///
/// A handshake never waits for key generation: the next certificate is made while the old one is in use. A connection
/// keeps its first certificate. To rotate, run `run()`; without it the first certificate stays.
public final class PeerCertificatePool: Sendable {
    /// How long one certificate is used for new connections. Default 24 h.
    public let lifetime: Duration

    private let certificate: Mutex<PeerCertificate>

    /// Makes the first certificate, which takes about a millisecond.
    public init(lifetime: Duration = .seconds(24 * 60 * 60)) throws(IoTError) {
        self.lifetime = lifetime
        certificate = Mutex(try PeerCertificate.generate())
    }

    /// The certificate for a new connection. Never blocks for long; callable from any thread.
    public var current: PeerCertificate {
        certificate.withLock { $0 }
    }

    /// Replaces the current certificate. Blocks the caller for about a millisecond, and no other thread.
    public func rotate() throws(IoTError) {
        let next = try PeerCertificate.generate()
        certificate.withLock { $0 = next }
    }

    /// Rotates the certificate every `lifetime`, until the calling task is cancelled. If a certificate cannot be made,
    /// the current one stays until the next rotation.
    public func run() async {
        await run(on: ContinuousClock())
    }

    func run(on clock: some Clock<Duration>) async {
        while (try? await clock.sleep(until: clock.now.advanced(by: lifetime), tolerance: nil)) != nil {
            try? rotate()
        }
    }
}
