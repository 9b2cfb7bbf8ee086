import COpenSSL
public import IoTCore

/// A self-signed ECDSA P-256 certificate and its key. Peers identify us by its hash (RFC 8827 §6.5).
///
/// Takes about a millisecond to make, so it is made ahead of time and shared by any number of peers. It exists only in
/// memory: each start of the program makes a new one, so that it cannot be used to track anyone.
///
/// `@unchecked Sendable`: the three pointers are set once, in `init`, and never changed; OpenSSL's reference counts are
/// atomic, and it takes its own locks (openssl-threads(7)).
public final class PeerCertificate: @unchecked Sendable {
    /// The OpenSSL context that all handshakes with this certificate share.
    let context: OpaquePointer
    private let certificate: OpaquePointer
    private let key: OpaquePointer

    /// The SHA-256 hash, for the session description.
    public let fingerprint: CertificateFingerprint

    /// Makes a new certificate, valid from yesterday until `days` from now.
    public static func generate(days: Int = 365) throws(IoTError) -> PeerCertificate {
        try PeerCertificate(days: days)
    }

    private convenience init(days: Int) throws(IoTError) {
        guard let key = iot_generate_p256_key() else { throw OpenSSLFailure.error("the key could not be generated") }
        try self.init(key: key, days: days)
    }

    /// - Parameter key: owned by the certificate from here on.
    init(key: OpaquePointer, days: Int) throws(IoTError) {
        guard let certificate = Self.selfSigned(key, days: days),
            let fingerprint = CertificateFingerprint(.sha256, of: certificate)
        else {
            EVP_PKEY_free(key)
            throw OpenSSLFailure.error("the certificate could not be created")
        }
        guard let context = Self.makeContext(certificate, key) else {
            X509_free(certificate)
            EVP_PKEY_free(key)
            throw OpenSSLFailure.error("the DTLS context could not be created")
        }
        self.key = key
        self.certificate = certificate
        self.context = context
        self.fingerprint = fingerprint
    }

    deinit {
        SSL_CTX_free(context)
        X509_free(certificate)
        EVP_PKEY_free(key)
    }

    /// The hash by another algorithm.
    func fingerprint(_ algorithm: CertificateFingerprint.Algorithm) -> CertificateFingerprint? {
        CertificateFingerprint(algorithm, of: certificate)
    }

    private static func selfSigned(_ key: OpaquePointer, days: Int) -> OpaquePointer? {
        guard let certificate = X509_new() else { return nil }
        // A random serial number and a meaningless name, because every peer sees the certificate.
        let serial = UInt64.random(in: 1...(.max >> 1))
        let name = X509_NAME_new()
        defer { X509_NAME_free(name) }
        let day = 24 * 60 * 60
        guard X509_set_version(certificate, 2) == 1,
            ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial) == 1,
            X509_NAME_add_entry_by_txt(name, "CN", 0x1000 | 1, "peer", -1, -1, 0) == 1,
            X509_set_subject_name(certificate, name) == 1, X509_set_issuer_name(certificate, name) == 1,
            X509_gmtime_adj(X509_getm_notBefore(certificate), -day) != nil,
            X509_gmtime_adj(X509_getm_notAfter(certificate), days * day) != nil,
            X509_set_pubkey(certificate, key) == 1, X509_sign(certificate, key, EVP_sha256()) > 0
        else {
            X509_free(certificate)
            return nil
        }
        return certificate
    }

    /// The groups for the key exchange; the first that both sides support is used. In DTLS 1.2 the list also restricts
    /// the curves of ECDSA certificates (RFC 8422 §5.1.1), and some peers have others than P-256.
    private static let groups = "X25519:P-256:P-384:P-521"

    private static func makeContext(_ certificate: OpaquePointer, _ key: OpaquePointer) -> OpaquePointer? {
        guard let context = SSL_CTX_new(DTLS_method()) else { return nil }
        iot_dtls_context_harden(context)
        // OpenSSL accepts any certificate. The session description names the right one, and the fingerprint is compared
        // after the handshake (RFC 8122 §6.2).
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT) { _, _ in 1 }
        let ciphers =
            "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:"
            + "ECDHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384"
        guard SSL_CTX_set_cipher_list(context, ciphers) == 1, iot_ssl_set_groups(context, Self.groups) == 1,
            // This one function returns 0 for success.
            SSL_CTX_set_tlsext_use_srtp(context, DTLSSession.profileNames) == 0,
            SSL_CTX_use_certificate(context, certificate) == 1, SSL_CTX_use_PrivateKey(context, key) == 1
        else {
            SSL_CTX_free(context)
            return nil
        }
        return context
    }
}
