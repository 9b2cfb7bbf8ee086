import COpenSSL
import IoTCore
import NIOCore

/// One DTLS 1.2 association with a peer (RFC 6347), which yields the keys for SRTP (RFC 5764).
///
/// Wraps OpenSSL, and contains everything about it that is not sans-IO. Datagrams go in and out through memory, but
/// OpenSSL's retransmission timer reads the real clock; `remainingTime` and `handleTimeout` query it. Tests replace
/// that clock, so that it runs in virtual time.
/// Not Sendable: it belongs to one peer's event loop.
final class DTLSSession {
    /// The keys for SRTP, after the handshake.
    struct Keys: Sendable {
        var profile: SRTPProfile
        /// Client key, server key, client salt, server salt.
        var keyingMaterial: [UInt8]
    }

    enum Role: String, Sendable {
        case client
        case server
    }

    enum State: Sendable {
        case handshaking
        case connected(Keys)
        /// The peer closed the association, or we did.
        case closed
        case failed(IoTError)
    }

    /// The longest datagram that is read.
    private static let maximumRecord = 2048

    /// AES-GCM first, because it takes half the CPU time of the other. The server's order decides.
    static let profileNames = SRTPProfile.allCases.map(\.openSSLName)
        .joined(separator: ":")

    let role: Role
    private(set) var state = State.handshaking
    private let ssl: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    private let remoteFingerprints: [CertificateFingerprint]
    private let maximumDatagram: Int
    private var datagrams: CircularBuffer<ByteBuffer> = []

    /// Application data of the last datagram.
    private var received: CircularBuffer<ByteBuffer> = []
    private var scratch = ByteBuffer()

    /// - Parameter maximumDatagram: the largest UDP payload of a flight's datagram: 1152 bytes, which with TURN's Send
    ///   indication over IPv6 makes 1200.
    init(
        certificate: PeerCertificate, role: Role, remoteFingerprints: [CertificateFingerprint],
        maximumDatagram: Int = 1152
    ) throws(IoTError) {
        ERR_clear_error()
        guard let ssl = SSL_new(certificate.context) else { throw OpenSSLFailure.error("cannot make a DTLS session") }
        guard let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()) else {
            SSL_free(ssl)
            throw OpenSSLFailure.error("cannot make a DTLS session")
        }
        self.role = role
        self.ssl = ssl
        self.incoming = incoming
        self.outgoing = outgoing
        self.remoteFingerprints = remoteFingerprints
        self.maximumDatagram = maximumDatagram
        // From here on the session owns both.
        SSL_set_bio(ssl, incoming, outgoing)
        iot_ssl_set_mtu(ssl, maximumDatagram)
        // The first wait, which then doubles up to 4 s. RFC 6347 §4.2.4.1 recommends 1 s, which a viewer would notice;
        // 250 ms covers the round trip of any path used for video.
        DTLS_set_timer_cb(ssl) { _, microseconds in
            microseconds == 0 ? 250_000 : min(microseconds * 2, 4_000_000)
        }
        switch role {
        case .client: SSL_set_connect_state(ssl)
        case .server: SSL_set_accept_state(ssl)
        }
    }

    deinit {
        SSL_free(ssl)
    }

    /// Sends the client's first flight; the server waits for it.
    func start() {
        advance()
    }

    /// Takes one datagram from the peer.
    func receive(_ datagram: ByteBuffer) {
        switch state {
        case .closed, .failed: return
        case .handshaking, .connected: break
        }
        let count = Int32(clamping: datagram.readableBytes)
        let written = datagram.withUnsafeReadableBytes { BIO_write(incoming, $0.baseAddress, count) }
        guard written == count else { return }
        advance()
        // Discards the remains of a truncated record, which would be read as the start of the next datagram.
        iot_bio_discard(incoming)
    }

    /// The next datagram to send.
    func nextDatagram() -> ByteBuffer? {
        datagrams.popFirst()
    }

    /// The content of the next application data record.
    func nextReceived() -> ByteBuffer? {
        received.popFirst()
    }

    /// Sends application data in one record. Returns false when the association is not connected.
    @discardableResult
    func send(_ data: ByteBuffer) -> Bool {
        guard case .connected = state, data.readableBytes > 0 else { return false }
        ERR_clear_error()
        let count = Int32(clamping: data.readableBytes)
        let written = data.withUnsafeReadableBytes { SSL_write(ssl, $0.baseAddress, count) }
        drain()
        return written == count
    }

    /// Real time until `handleTimeout` is due; `nil` while no flight waits for a reply.
    var remainingTime: TimeAmount? {
        guard case .handshaking = state else { return nil }
        let microseconds = iot_dtls_remaining_microseconds(ssl)
        return microseconds < 0 ? nil : .microseconds(Int64(microseconds))
    }

    /// Sends the flight again if it is due; otherwise does nothing.
    func handleTimeout() {
        guard case .handshaking = state else { return }
        ERR_clear_error()
        if iot_dtls_handle_timeout(ssl) < 0 {
            state = .failed(OpenSSLFailure.error("the DTLS handshake had too many retransmissions"))
        }
        drain()
    }

    /// Sends close_notify, without waiting for the peer's.
    func close() {
        switch state {
        case .closed, .failed: return
        case .handshaking: break
        case .connected:
            ERR_clear_error()
            SSL_shutdown(ssl)
            drain()
        }
        state = .closed
    }

    /// `ECDHE-ECDSA-AES128-GCM-SHA256`
    var cipherName: String? {
        SSL_get_current_cipher(ssl).flatMap(SSL_CIPHER_get_name).map { String(cString: $0) }
    }

    private func advance() {
        ERR_clear_error()
        if case .handshaking = state {
            let result = SSL_do_handshake(ssl)
            if result == 1 {
                state = handshakeResult()
            } else {
                let reason = SSL_get_error(ssl, result)
                if reason != SSL_ERROR_WANT_READ && reason != SSL_ERROR_WANT_WRITE {
                    state = .failed(OpenSSLFailure.error("the DTLS handshake failed"))
                }
            }
        }
        if case .connected = state { readRecords() }
        drain()
    }

    /// Checks the peer's certificate and exports the keys for SRTP.
    private func handshakeResult() -> State {
        guard let certificate = SSL_get1_peer_certificate(ssl) else {
            return .failed(IoTError(.peerFailed, "the peer sent no certificate"))
        }
        defer { X509_free(certificate) }
        guard CertificateFingerprint.match(remoteFingerprints, certificate: certificate) else {
            SSL_shutdown(ssl)
            return .failed(
                IoTError(.peerFailed, "the certificate does not match the session description's fingerprint"))
        }
        guard let selected = SSL_get_selected_srtp_profile(ssl),
            let profile = SRTPProfile(rawValue: UInt16(truncatingIfNeeded: selected.pointee.id))
        else { return .failed(IoTError(.peerFailed, "the peer agreed to no SRTP profile")) }
        var material = [UInt8](repeating: 0, count: profile.keyingMaterialLength)
        let label = "EXTRACTOR-dtls_srtp"
        guard
            SSL_export_keying_material(ssl, &material, material.count, label, label.utf8.count, nil, 0, 0) == 1
        else { return .failed(OpenSSLFailure.error("the SRTP keys could not be exported")) }
        return .connected(Keys(profile: profile, keyingMaterial: material))
    }

    /// Reads application data, alerts, and late flights.
    private func readRecords() {
        while true {
            var count: Int32 = 0
            scratch.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.maximumRecord) { target in
                count = SSL_read(ssl, target.baseAddress, Int32(clamping: target.count))
                return max(0, Int(count))
            }
            if count > 0 {
                received.append(scratch)
                scratch = ByteBuffer()
                continue
            }
            switch SSL_get_error(ssl, count) {
            case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE:
                break
            case SSL_ERROR_ZERO_RETURN:
                // Replies with our own close_notify (RFC 5246 §7.2.1).
                SSL_shutdown(ssl)
                state = .closed
            default:
                state = .failed(OpenSSLFailure.error("the DTLS association failed"))
            }
            return
        }
    }

    /// Takes OpenSSL's output. The memory buffer does not keep datagram boundaries, so they are rebuilt from the record
    /// lengths (RFC 6347 §4.1), with as many whole records in each datagram as fit.
    private func drain() {
        let count = BIO_ctrl_pending(outgoing)
        guard count > 0 else { return }
        var bytes = ByteBuffer()
        bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { target in
            max(0, Int(BIO_read(outgoing, target.baseAddress, Int32(clamping: count))))
        }
        var datagram = ByteBuffer()
        while let length = bytes.getInteger(at: bytes.readerIndex + 11, as: UInt16.self),
            var record = bytes.readSlice(length: 13 + Int(length))
        {
            if datagram.readableBytes > 0, datagram.readableBytes + record.readableBytes > maximumDatagram {
                datagrams.append(datagram)
                datagram = ByteBuffer()
            }
            datagram.writeBuffer(&record)
        }
        if datagram.readableBytes > 0 { datagrams.append(datagram) }
    }
}
