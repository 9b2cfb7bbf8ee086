import COpenSSL
import IoTCore

/// A certificate's hash in the form of SDP (RFC 8122 §5), for example `sha-256 4A:AD:…`.
public struct CertificateFingerprint: Sendable, Hashable {
    /// The trusted hash algorithms, weakest first.
    enum Algorithm: String, Sendable, CaseIterable, Comparable {
        case sha256 = "sha-256"
        case sha384 = "sha-384"
        case sha512 = "sha-512"

        var digest: OpaquePointer? {
            switch self {
            case .sha256: EVP_sha256()
            case .sha384: EVP_sha384()
            case .sha512: EVP_sha512()
            }
        }

        var byteCount: Int {
            switch self {
            case .sha256: 32
            case .sha384: 48
            case .sha512: 64
            }
        }

        static func < (left: Algorithm, right: Algorithm) -> Bool {
            left.byteCount < right.byteCount
        }
    }

    let algorithm: Algorithm
    let bytes: [UInt8]

    init(algorithm: Algorithm, bytes: [UInt8]) {
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// Parses `sha-256 4A:AD:…`. Returns `nil` for a hash algorithm that is not trusted (MD5, SHA-1); throws
    /// `sessionDescriptionInvalid` for malformed text.
    init?(parsing text: some StringProtocol) throws(IoTError) {
        let fields = text.split(separator: " ", omittingEmptySubsequences: true)
        guard fields.count == 2 else { throw IoTError(.sessionDescriptionInvalid, "the fingerprint is malformed") }
        guard let algorithm = Algorithm(rawValue: fields[0].lowercased()) else { return nil }
        let pairs = fields[1].split(separator: ":", omittingEmptySubsequences: false)
        guard pairs.count == algorithm.byteCount, pairs.allSatisfy({ $0.utf8.count == 2 }),
            let bytes = Hex.decode(pairs.joined())
        else { throw IoTError(.sessionDescriptionInvalid, "the fingerprint is malformed") }
        self.init(algorithm: algorithm, bytes: bytes)
    }

    /// `sha-256 4A:AD:…`
    public var text: String {
        let pairs = bytes.map { Hex.encode(CollectionOfOne($0)).uppercased() }
        return "\(algorithm.rawValue) \(pairs.joined(separator: ":"))"
    }

    /// The hash of an OpenSSL certificate.
    init?(_ algorithm: Algorithm, of certificate: OpaquePointer) {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        guard X509_digest(certificate, algorithm.digest, &digest, &length) == 1 else { return nil }
        self.init(algorithm: algorithm, bytes: Array(digest.prefix(Int(length))))
    }

    /// True when the certificate has one of these hashes; of several, the strongest algorithm decides (RFC 8122 §5.1).
    static func match(_ fingerprints: [CertificateFingerprint], certificate: OpaquePointer) -> Bool {
        guard let strongest = fingerprints.map(\.algorithm).max(),
            let actual = CertificateFingerprint(strongest, of: certificate)
        else { return false }
        return fingerprints.contains(actual)
    }
}
