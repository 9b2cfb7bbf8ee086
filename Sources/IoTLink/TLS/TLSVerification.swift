import COpenSSL
import IoTCore

/// The TLS context of one connection: TLS 1.2 or newer. A server is trusted only when its chain ends in the configured
/// authority.
///
/// OpenSSL keeps an unretained reference to this object: keep the object as long as the context is used. Confined to
/// the thread of its connection.
final class TLSVerification {
    /// An `SSL_CTX`.
    let context: OpaquePointer
    /// Why the server was refused; `nil` if it was not.
    private(set) var refusal: String?

    private let authority: CertificateAuthority
    private let host: String

    /// - Parameter checksTimes: whether to check validity times; `false` when this machine's clock is implausible.
    init(authority: CertificateAuthority, host: String, checksTimes: Bool) throws(IoTError) {
        self.authority = authority
        self.host = host
        guard let context = iot_tls_client_context() else {
            throw IoTError(.internalFailure, "OpenSSL made no TLS context")
        }
        self.context = context
        guard let anchor = try? PEM.certificate(authority.pem) else {
            throw IoTError(.invalidConfiguration, "the certificate authority cannot be read")
        }
        defer { X509_free(anchor) }
        // Also accepts an authority that is itself signed by another one.
        let flags = UInt(X509_V_FLAG_PARTIAL_CHAIN) | (checksTimes ? 0 : UInt(X509_V_FLAG_NO_CHECK_TIME))
        guard X509_STORE_add_cert(SSL_CTX_get_cert_store(context), anchor) == 1,
            X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), flags) == 1
        else { throw IoTError(.internalFailure, "OpenSSL did not take the certificate authority") }
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_cert_verify_callback(
            context,
            { chain, object in
                guard let chain, let object else { return 0 }
                return Unmanaged<TLSVerification>.fromOpaque(object).takeUnretainedValue().verify(chain) ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        SSL_CTX_free(context)
    }

    private func verify(_ chain: OpaquePointer) -> Bool {
        guard X509_verify_cert(chain) == 1 else {
            refusal = reason(of: X509_STORE_CTX_get_error(chain), chain)
            return false
        }
        guard let leaf = X509_STORE_CTX_get0_cert(chain), isNamed(leaf) else {
            X509_STORE_CTX_set_error(chain, X509_V_ERR_HOSTNAME_MISMATCH)
            refusal =
                "its certificate is not valid for \(host): use one of the names in it, or add this name to "
                + "hub.tls.names on the hub"
            return false
        }
        return true
    }

    /// Whether the certificate is valid for `host`.
    ///
    /// Any other authority signs for many servers, so that the certificate must name `host`. A hub's own authority
    /// identifies the hub by itself: `host` must be listed only when the certificate lists names of its kind (host
    /// names, or addresses).
    private func isNamed(_ leaf: OpaquePointer) -> Bool {
        let isAddress = IPAddress.isValid(host)
        let fits =
            isAddress
            ? X509_check_ip_asc(leaf, host, 0) == 1
            : X509_check_host(leaf, host, host.utf8.count, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS), nil) == 1
        return fits || (authority.isHubOwn && iot_x509_name_kinds(leaf) & (isAddress ? 2 : 1) == 0)
    }

    private func reason(of error: Int32, _ chain: OpaquePointer) -> String {
        let words = X509_verify_cert_error_string(Int(error)).map { String(cString: $0) } ?? "error \(error)"
        switch error {
        case X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED:
            return "\(words): check the clocks of this machine and of the hub"
        default:
            let presented = X509_STORE_CTX_get0_untrusted(chain)
            let top = iot_x509_count(presented) > 0 ? iot_x509_at(presented, iot_x509_count(presented) - 1) : nil
            let seen = top.flatMap { CertificateAuthority.fingerprint(of: $0) }.map { Hex.encode($0) } ?? "none"
            return
                "its certificate is not signed by the trusted authority (\(words)): expected SHA-256 "
                + "\(Hex.encode(authority.fingerprint)), seen \(seen): this is another server, or the hub was set up "
                + "again and must be joined again"
        }
    }
}
