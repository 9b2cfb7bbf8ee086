package import IoTCore
import NIOCore
package import NIOSSL

/// TLS with a camera. A camera's certificate is self-signed and rarely contains its host name, so only its fingerprint
/// counts.
package enum CameraTLS {
    /// - Parameters:
    ///   - remedy: What to do if the certificate is not trusted, for a person who has its fingerprint.
    ///   - refuse: Called with 25027 if the certificate is not trusted. Nothing was sent to the camera then.
    package static func handler(
        to url: ServiceURL, trust: CameraTrust, remedy: @escaping @Sendable (CertificateDigest) -> String,
        refuse: @escaping @Sendable (IoTError) -> Void
    ) throws -> NIOSSLClientHandler {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        // The system's certificate authorities are not loaded: that is slow, and they sign no camera's certificate.
        configuration.trustRoots = .certificates([])
        configuration.certificateVerification = .noHostnameVerification
        // Cameras have few sessions: one that does not answer close_notify must not stay open.
        configuration.shutdownTimeout = .milliseconds(500)
        return try NIOSSLClientHandler(
            context: NIOSSLContext(configuration: configuration),
            // SNI does not permit an address (RFC 6066 §3).
            serverHostname: url.address == nil ? url.host : nil,
            customVerificationCallback: { certificates, verified in
                guard let der = try? certificates.first?.toDERBytes() else { return verified.succeed(.failed) }
                let fingerprint = CertificateDigest(der: der)
                if trust.accepts(fingerprint) { return verified.succeed(.certificateVerified) }
                let error = IoTError(
                    .certificateRejected,
                    trust == .none
                        ? "the certificate of the camera at \(url.host) is unknown: SHA-256 \(fingerprint)"
                        : "the camera at \(url.host) has a different certificate: SHA-256 \(fingerprint)",
                    remedy: remedy(fingerprint))
                // Not within this call, because `refuse` may close the channel, and NIOSSL must not be re-entered here.
                verified.futureResult.eventLoop.execute {
                    refuse(error)
                    verified.succeed(.failed)
                }
            })
    }

    /// The error to report for an error of the handler; `nil` for an error of another kind, and for a connection that
    /// the camera closed without `close_notify`, as many do.
    package static func describe(_ error: any Error, _ url: ServiceURL) -> IoTError? {
        if case .uncleanShutdown? = error as? NIOSSLError { return nil }
        guard error is NIOSSLError || error is NIOSSLExtraError || error is BoringSSLError else { return nil }
        return IoTError(
            .sourceUnreachable,
            "TLS with the camera at \(url.host):\(url.portOrDefault) failed",
            remedy: "check that this port is the encrypted one, and that the camera supports TLS 1.2", underlying: error
        )
    }
}
