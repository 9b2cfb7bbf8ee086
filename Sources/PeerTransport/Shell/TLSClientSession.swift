import COpenSSL
import NIOCore

/// The client side of one TLS connection to a TURN server, in memory (OpenSSL). Confined to one event loop.
final class TLSClientSession {
    private let context: OpaquePointer
    private let ssl: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    private var plaintext: CircularBuffer<ByteBuffer> = []
    private(set) var isConnected = false
    private(set) var hasEnded = false

    /// The reason why the server's certificate was rejected.
    private(set) var refusal: String?

    private static let readByteCount = 16_384

    /// - Parameters:
    ///   - serverName: the host name or IP address that the certificate must have.
    ///   - authorities: PEM of the only trusted authorities; `nil` for the system's.
    init?(serverName: String, authorities: String?) {
        guard let context = iot_tls_client_context() else { return nil }
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        guard Self.trust(authorities, in: context), let ssl = SSL_new(context) else {
            SSL_CTX_free(context)
            return nil
        }
        guard let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()) else {
            SSL_free(ssl)
            SSL_CTX_free(context)
            return nil
        }
        self.context = context
        self.ssl = ssl
        self.incoming = incoming
        self.outgoing = outgoing
        SSL_set_bio(ssl, incoming, outgoing)
        SSL_set_connect_state(ssl)
        let isAddress = (try? SocketAddress(ipAddress: serverName, port: 0)) != nil
        let isNamed =
            isAddress
            ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), serverName) == 1
            : SSL_set1_host(ssl, serverName) == 1 && iot_ssl_set_server_name(ssl, serverName) == 1
        if !isNamed { hasEnded = true }
    }

    deinit {
        SSL_free(ssl)
        SSL_CTX_free(context)
    }

    private static func trust(_ authorities: String?, in context: OpaquePointer) -> Bool {
        guard let authorities else { return SSL_CTX_set_default_verify_paths(context) == 1 }
        let bytes = Array(authorities.utf8)
        guard let bio = BIO_new_mem_buf(bytes, Int32(clamping: bytes.count)) else { return false }
        defer { BIO_free(bio) }
        var count = 0
        while let certificate = PEM_read_bio_X509(bio, nil, nil, nil) {
            if X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate) == 1 { count += 1 }
            X509_free(certificate)
        }
        // OpenSSL reports the end of the text as an error.
        ERR_clear_error()
        return count > 0
    }

    func start() {
        advance()
    }

    func receive(_ bytes: ByteBuffer) {
        guard !hasEnded else { return }
        bytes.withUnsafeReadableBytes { _ = BIO_write(incoming, $0.baseAddress, Int32(clamping: $0.count)) }
        advance()
    }

    /// Sends plain bytes; only after the handshake.
    func send(_ bytes: ByteBuffer) {
        guard isConnected, !hasEnded, bytes.readableBytes > 0 else { return }
        ERR_clear_error()
        let written = bytes.withUnsafeReadableBytes { SSL_write(ssl, $0.baseAddress, Int32(clamping: $0.count)) }
        // The memory buffer takes everything, so a write is never partial.
        if written != Int32(clamping: bytes.readableBytes) { hasEnded = true }
    }

    /// Sends close_notify.
    func close() {
        guard !hasEnded else { return }
        hasEnded = true
        ERR_clear_error()
        SSL_shutdown(ssl)
    }

    /// The next bytes to write to the connection.
    func nextRecord() -> ByteBuffer? {
        let count = BIO_ctrl_pending(outgoing)
        guard count > 0 else { return nil }
        var buffer = ByteBuffer()
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: min(count, Self.readByteCount)) { space in
            max(0, Int(BIO_read(outgoing, space.baseAddress, Int32(clamping: space.count))))
        }
        return buffer.readableBytes > 0 ? buffer : nil
    }

    /// The next decrypted bytes from the server.
    func nextPlaintext() -> ByteBuffer? {
        plaintext.popFirst()
    }

    private func advance() {
        guard !hasEnded else { return }
        ERR_clear_error()
        if !isConnected {
            let result = SSL_do_handshake(ssl)
            guard result == 1 else { return check(result) }
            isConnected = true
        }
        while true {
            var buffer = ByteBuffer()
            var result: Int32 = 0
            buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.readByteCount) { space in
                result = SSL_read(ssl, space.baseAddress, Int32(clamping: space.count))
                return max(0, Int(result))
            }
            guard result > 0 else { return check(result) }
            plaintext.append(buffer)
        }
    }

    private func check(_ result: Int32) {
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: break
        default:
            hasEnded = true
            let verification = SSL_get_verify_result(ssl)
            guard verification != X509_V_OK, let words = X509_verify_cert_error_string(Int(verification)) else {
                return
            }
            refusal = "the TURN server's certificate is not accepted: \(String(cString: words))"
        }
    }
}
