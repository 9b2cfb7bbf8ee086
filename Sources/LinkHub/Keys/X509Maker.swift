import COpenSSL
import Foundation
import Glibc
import IoTCore
import IoTLink

/// Makes ECDSA P-256 certificates (RFC 5280) with OpenSSL. Keys and certificates are PEM text.
enum X509Maker {
    struct Request {
        var organisation: String?
        var commonName: String
        /// Seconds since 1970.
        var notBefore: Int64
        var notAfter: Int64
        /// In the notation of x509v3.cnf(5), with OpenSSL's numbers.
        var extensions: [(Int32, String)]
    }

    struct Pair: Sendable {
        let certificate: String
        let key: String
    }

    /// - Parameter issuer: Signs the certificate; `nil` for a certificate that signs itself.
    static func make(_ request: Request, issuer: Pair?) throws(IoTError) -> Pair {
        guard let key = iot_generate_p256_key() else { throw PEM.failure("make a key") }
        defer { EVP_PKEY_free(key) }
        guard let certificate = X509_new() else { throw PEM.failure("make a certificate") }
        defer { X509_free(certificate) }
        let issuerCertificate = try issuer.map { pair throws(IoTError) in try PEM.certificate(pair.certificate) }
        defer { X509_free(issuerCertificate) }
        let issuerKey = try issuer.map { pair throws(IoTError) in try PEM.key(pair.key) }
        defer { EVP_PKEY_free(issuerKey) }

        let subject = X509_NAME_new()
        defer { X509_NAME_free(subject) }
        guard X509_set_version(certificate, 2) == 1,
            ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), .random(in: 1...(.max >> 1))) == 1,
            request.organisation.map({ add("O", $0, to: subject) }) ?? true,
            add("CN", request.commonName, to: subject), X509_set_subject_name(certificate, subject) == 1,
            X509_set_issuer_name(
                certificate, issuerCertificate.map { X509_get_subject_name($0) } ?? subject) == 1,
            ASN1_TIME_set(X509_getm_notBefore(certificate), time_t(request.notBefore)) != nil,
            ASN1_TIME_set(X509_getm_notAfter(certificate), time_t(request.notAfter)) != nil,
            X509_set_pubkey(certificate, key) == 1
        else { throw PEM.failure("fill in a certificate") }
        for (kind, value) in request.extensions {
            guard iot_x509_add_extension(certificate, issuerCertificate ?? certificate, kind, value) == 1 else {
                throw PEM.failure("add '\(value)' to a certificate")
            }
        }
        guard X509_sign(certificate, issuerKey ?? key, EVP_sha256()) > 0 else {
            throw PEM.failure("sign a certificate")
        }
        return Pair(
            certificate: try PEM.text { PEM_write_bio_X509($0, certificate) },
            key: try PEM.text { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) })
    }

    /// Checks that both can be read and belong together. Throws `invalidConfiguration`.
    static func check(_ pair: Pair) throws(IoTError) {
        let certificate = try PEM.certificate(pair.certificate)
        defer { X509_free(certificate) }
        let key = try PEM.key(pair.key)
        defer { EVP_PKEY_free(key) }
        let result = X509_check_private_key(certificate, key)
        ERR_clear_error()
        guard result == 1 else {
            throw IoTError(.invalidConfiguration, "the private key does not belong to the certificate")
        }
    }

    /// When a certificate expires, in s since 1970.
    static func notAfter(of pem: String) throws(IoTError) -> Int64 {
        let certificate = try PEM.certificate(pem)
        defer { X509_free(certificate) }
        var time = tm()
        guard ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &time) == 1 else { throw PEM.failure("read a time") }
        return Int64(timegm(&time))
    }

    // MARK: OpenSSL

    private static func add(_ field: String, _ value: String, to name: OpaquePointer?) -> Bool {
        let utf8 = Int32(0x1000)
        return X509_NAME_add_entry_by_txt(name, field, utf8, value, -1, -1, 0) == 1
    }
}
