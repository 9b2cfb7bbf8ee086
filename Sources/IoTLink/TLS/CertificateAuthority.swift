import COpenSSL
import Glibc
public import IoTCore

/// A trusted certificate: a hub's own certificate authority, or the issuer of a configured certificate.
public struct CertificateAuthority: Sendable, Hashable {
    /// The certificate as PEM text (RFC 7468).
    public let pem: String
    /// SHA-256 of the certificate's DER: 32 bytes.
    public let fingerprint: [UInt8]
    /// Whether a hub created it for itself. It then signs only that hub's certificates, so that checking the name in
    /// them adds no security.
    public let isHubOwn: Bool

    /// The organisation in the subject of a hub's own authority.
    public static let hubOrganisation = "iotvideod hub"

    static let maximumSize = 1 << 20

    /// Reads the first certificate of a PEM text. Throws 25002 when there is none.
    public init(pem: String) throws(IoTError) {
        guard pem.utf8.count <= Self.maximumSize, let certificate = try? PEM.certificate(pem) else {
            throw IoTError(.invalidConfiguration, "there is no certificate in PEM form")
        }
        defer { X509_free(certificate) }
        guard let parsed = CertificateAuthority(certificate) else {
            throw IoTError(.invalidConfiguration, "the certificate cannot be read")
        }
        self = parsed
    }

    /// Reads a PEM file. Throws 25017 when it cannot be read, 25002 when it holds no certificate.
    public init(file path: String) throws(IoTError) {
        guard !path.isEmpty else {
            throw IoTError(
                .invalidConfiguration,
                "TLS needs the file of the hub's certificate authority (certificateAuthorityFile)")
        }
        guard let file = fopen(path, "re") else {
            let reason = String(cString: strerror(errno))
            throw IoTError(.fileFailed, "the certificate authority's file \(path) cannot be read: \(reason)")
        }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: Self.maximumSize)
        let count = fread(&bytes, 1, bytes.count, file)
        do throws(IoTError) {
            try self.init(pem: String(decoding: bytes.prefix(count), as: UTF8.self))
        } catch {
            throw IoTError(.invalidConfiguration, "\(path): \(error.message)", underlying: error)
        }
    }

    /// Copies an OpenSSL `X509`. The caller keeps ownership.
    init?(_ certificate: OpaquePointer) {
        guard let fingerprint = Self.fingerprint(of: certificate),
            let pem = try? PEM.text({ PEM_write_bio_X509($0, certificate) })
        else { return nil }
        self.pem = pem
        self.fingerprint = fingerprint
        var organisation = [CChar](repeating: 0, count: 128)
        let count = X509_NAME_get_text_by_NID(
            X509_get_subject_name(certificate), NID_organizationName, &organisation, Int32(organisation.count))
        let name = organisation.prefix(Int(max(count, 0))).map { UInt8(bitPattern: $0) }
        isHubOwn = name == Array(Self.hubOrganisation.utf8)
    }

    static func fingerprint(of certificate: OpaquePointer) -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        guard X509_digest(certificate, EVP_sha256(), &digest, &length) == 1, length == 32 else { return nil }
        return Array(digest.prefix(32))
    }
}
