import AsyncHTTPClient
import Foundation
import IoTCore
import NIOCore

/// Decides whether to trust another machine's daemon: its certificate is pinned on first use, as in ssh.
struct FirstUse {
    let remote: RemoteDaemon
    let path: String
    /// Whether the user can be asked.
    let isInteractive: Bool

    init(_ remote: RemoteDaemon, path: String = KnownHosts.path(), isInteractive: Bool) {
        self.remote = remote
        self.path = path
        self.isInteractive = isInteractive
    }

    /// The daemon with the trust to use. No secret is sent before this returns.
    ///
    /// - Throws: `.certificateRejected` if the certificate is not trusted.
    func resolve() async throws -> RemoteDaemon {
        guard remote.isEncrypted, remote.authorityFile == nil else { return remote }
        var known = try KnownHosts.load(path)
        if let certificate = known[remote.hostAndPort] { return remote.trusting(.pinned(certificate)) }
        if try await isAccepted(.system) { return remote }
        let certificate = try await presented()
        guard try await isAccepted(.pinned(certificate)) else { throw unusable(certificate) }
        guard isInteractive else { throw unknown(certificate) }
        guard try Prompt.confirm(question(certificate)) else {
            throw IoTError(
                .certificateRejected, "the certificate of \(remote.url) was not trusted", remedy: Self.byHand)
        }
        known[remote.hostAndPort] = certificate
        try await known.save(path)
        return remote.trusting(.pinned(certificate))
    }

    /// The error for a changed certificate; `nil` if the server still has the pinned one and there is another reason.
    static func changed(_ remote: RemoteDaemon, from old: TrustedCertificate) async -> IoTError? {
        guard let chain = try? await CertificateProbe.chain(host: remote.host, port: remote.port),
            let last = chain.last,
            !chain.contains(old.der)
        else { return nil }
        return IoTError(
            .certificateRejected,
            "THE CERTIFICATE OF \(remote.url) HAS CHANGED: it is not the one that you trusted. Somebody may be "
                + "listening in, or its hub was set up again. Trusted: SHA-256 \(old.fingerprint). "
                + "Now: SHA-256 \(TrustedCertificate.fingerprint(last))",
            remedy: "ask who runs that machine; if the change is correct, remove the line '\(remote.hostAndPort)' from "
                + KnownHosts.path())
    }

    // MARK: Messages

    private static let byHand = "copy keys/ca.pem of that daemon's data directory to this machine, and add --ca ca.pem"

    private func words(_ certificate: TrustedCertificate) -> String {
        let subject = certificate.kind == .authority ? "the authority of its certificate" : "its certificate"
        return "\(subject) has SHA-256 \(certificate.fingerprint)"
    }

    private func question(_ certificate: TrustedCertificate) -> String {
        let file = certificate.kind == .authority ? "keys/ca.pem of its data directory" : "its certificate"
        return """
            This machine does not know \(remote.url):
              \(words(certificate)).
              To compare, run `openssl x509 -noout -fingerprint -sha256 -in FILE` there with \(file).
            Trust it from now on?
            """
    }

    private func unknown(_ certificate: TrustedCertificate) -> IoTError {
        IoTError(
            .certificateRejected, "this machine does not know \(remote.url): \(words(certificate))",
            remedy: "\(Self.byHand); or run the command once on a terminal, where you are asked whether to trust it")
    }

    private func unusable(_ certificate: TrustedCertificate) -> IoTError {
        IoTError(
            .certificateRejected,
            "the certificate of \(remote.url) does not name \(remote.host), is out of date, or lacks its authority",
            remedy: "connect to a name of its hub.tls.names, or add --ca FILE with the authority")
    }

    // MARK: Requests

    /// The last certificate of the chain: the hub's authority, which does not change when the hub renews its own
    /// certificate.
    private func presented() async throws -> TrustedCertificate {
        let chain: [[UInt8]]
        do {
            chain = try await CertificateProbe.chain(host: remote.host, port: remote.port)
        } catch {
            throw ConnectionFailure.describe(error, .remote(remote))
        }
        guard let last = chain.last else {
            throw IoTError(.certificateRejected, "\(remote.url) presents no certificate", remedy: Self.byHand)
        }
        return TrustedCertificate(kind: chain.count > 1 ? .authority : .certificate, der: last)
    }

    /// Whether a connection succeeds with this trust. The request carries no token.
    private func isAccepted(_ trust: ServerTrust) async throws -> Bool {
        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = try trust.configuration()
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Result<Void, any Error>
        do {
            _ = try await client.execute(HTTPClientRequest(url: remote.url + "/healthz"), timeout: .seconds(15))
            result = .success(())
        } catch {
            result = .failure(error)
        }
        try? await client.shutdown()
        switch result {
        case .success: return true
        case .failure(let error) where ConnectionFailure.isRejectedCertificate(error): return false
        case .failure(let error): throw ConnectionFailure.describe(error, .remote(remote))
        }
    }
}
