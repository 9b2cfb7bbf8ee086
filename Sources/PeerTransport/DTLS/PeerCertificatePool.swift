public import IoTCore
import Synchronization

/// The certificate that new connections show, made ahead of time and changed now and then.
///
/// A handshake never waits for a key: the next certificate is made while the old one still serves. A connection keeps
/// the one it began with. Who wants rotation runs `run()`; without it the first certificate stays.
public final class PeerCertificatePool: Sendable {
    /// How long one certificate is shown. Default 24 h.
    public let lifetime: Duration

    private let certificate: Mutex<PeerCertificate>

    /// Makes the first certificate, which takes about a millisecond.
    public init(lifetime: Duration = .seconds(24 * 60 * 60)) throws(IoTError) {
        self.lifetime = lifetime
        certificate = Mutex(try PeerCertificate.generate())
    }

    /// What a connection that begins now shows. Ready at once, on any thread.
    public var current: PeerCertificate {
        certificate.withLock { $0 }
    }

    /// Puts a new certificate in place of the current one. Blocks for about a millisecond, and nobody else.
    public func rotate() throws(IoTError) {
        let next = try PeerCertificate.generate()
        certificate.withLock { $0 = next }
    }

    /// Changes the certificate each `lifetime`, on the task that calls it, until that is cancelled. A failure to make
    /// one leaves the current one in place until the next turn.
    public func run() async {
        await run(on: ContinuousClock())
    }

    func run(on clock: some Clock<Duration>) async {
        while (try? await clock.sleep(until: clock.now.advanced(by: lifetime), tolerance: nil)) != nil {
            try? rotate()
        }
    }
}
