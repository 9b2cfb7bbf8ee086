import COpenSSL
import IoTCore
import NIOCore

@testable import IoTLink
@testable import LinkHub

/// Checks certificates from outside.
enum TLSProbe {
    /// A handshake in memory between a server with this certificate and our client.
    ///
    /// - Parameter clock: The client's clock, s since 1970.
    /// - Returns: Why the client refused the certificate; `nil` if it did not.
    static func connect(
        _ pair: X509Maker.Pair, authority: CertificateAuthority, host: String, clock: Int64
    ) throws -> String? {
        let verification = try TLSVerification(
            authority: authority, host: host, checksTimes: ClockSanity.isPlausible(clock * 1_000))
        let server = try serverContext(pair)
        defer { SSL_CTX_free(server) }
        var clientBIO: OpaquePointer?
        var serverBIO: OpaquePointer?
        guard BIO_new_bio_pair(&clientBIO, 0, &serverBIO, 0) == 1, let clientEnd = SSL_new(verification.context),
            let serverEnd = SSL_new(server)
        else { throw IoTError(.internalFailure) }
        defer {
            SSL_free(clientEnd)
            SSL_free(serverEnd)
        }
        SSL_set_bio(clientEnd, clientBIO, clientBIO)
        SSL_set_bio(serverEnd, serverBIO, serverBIO)
        for _ in 0..<20 {
            let isDone = SSL_connect(clientEnd) == 1
            let isAccepted = SSL_accept(serverEnd) == 1
            if verification.refusal != nil || (isDone && isAccepted) { break }
        }
        ERR_clear_error()
        if let refusal = verification.refusal { return refusal }
        guard SSL_is_init_finished(clientEnd) == 1 else { throw IoTError(.internalFailure, "no handshake") }
        return nil
    }

    private static func serverContext(_ pair: X509Maker.Pair) throws -> OpaquePointer {
        let directory = TemporaryDirectory()
        try PrivateFile.write(pair.certificate, to: directory.path + "/c")
        try PrivateFile.write(pair.key, to: directory.path + "/k")
        guard let context = SSL_CTX_new(TLS_server_method()),
            SSL_CTX_use_certificate_chain_file(context, directory.path + "/c") == 1,
            SSL_CTX_use_PrivateKey_file(context, directory.path + "/k", SSL_FILETYPE_PEM) == 1
        else { throw IoTError(.internalFailure, "OpenSSL did not take the certificate") }
        return context
    }

    /// The fingerprint of a listener's certificate.
    static func serverCertificate(port: Int) async throws -> [UInt8] {
        let chain = try await CertificateChain.fetch(host: "127.0.0.1", port: port, deadline: .now() + .seconds(5))
        guard let first = chain.first else { throw IoTError(.notFound) }
        return first.fingerprint
    }
}
