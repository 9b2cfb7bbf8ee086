import COpenSSL
import Foundation
import IoTCore
import IoTLink

/// The hub's own certificate authority: ECDSA P-256, valid for 10 years, in `keys/ca.pem` and `keys/ca-key.pem`. It is
/// created when the hub or the API first listens with TLS. Clients pin it, so it is never replaced automatically.
struct HubAuthority: Sendable {
    static let years: Int64 = 10

    let certificate: CertificateAuthority
    let certificateFile: String
    private let pair: X509Maker.Pair

    /// - Parameter now: s since 1970.
    /// - Throws: `fileFailed` for files that cannot be used, `invalidConfiguration` for files that others may read.
    init(dataDirectory: String, now: Int64) throws(IoTError) {
        let directory = dataDirectory + "/keys"
        try PrivateDirectory.make(directory)
        certificateFile = directory + "/ca.pem"
        let keyFile = directory + "/ca-key.pem"
        switch (try PrivateFile.text(of: certificateFile), try PrivateFile.text(of: keyFile)) {
        case (let certificate?, let key?):
            pair = X509Maker.Pair(certificate: certificate, key: key)
            do throws(IoTError) {
                try X509Maker.check(pair)
            } catch {
                throw Self.damaged(directory, error)
            }
        case (nil, nil), (nil, _?):
            // An interrupted start leaves a key without a certificate. No client has seen a certificate of it.
            pair = try Self.make(now: Self.plausible(now))
            try PrivateFile.write(pair.key, to: keyFile)
            try PrivateFile.write(pair.certificate, to: certificateFile)
        case (_?, nil): throw Self.damaged(directory, nil)
        }
        certificate = try CertificateAuthority(pem: pair.certificate)
    }

    /// Issues a certificate for a listener, valid from an hour ago, because clocks differ.
    ///
    /// - Parameter names: Host names and addresses.
    func issue(names: [String], now: Int64, lifetime: Int64) throws(IoTError) -> X509Maker.Pair {
        var extensions: [(Int32, String)] = [
            (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
            (NID_ext_key_usage, "serverAuth"), (NID_subject_key_identifier, "hash"),
            (NID_authority_key_identifier, "keyid"),
        ]
        if !names.isEmpty {
            let entries = names.map { (IPAddress.isValid($0) ? "IP:" : "DNS:") + $0 }
            extensions.append((NID_subject_alt_name, entries.joined(separator: ",")))
        }
        let now = Self.plausible(now)
        let leaf = try X509Maker.make(
            X509Maker.Request(
                commonName: "iotvideod hub", notBefore: now - 3_600, notAfter: now + lifetime, extensions: extensions),
            issuer: pair)
        return X509Maker.Pair(certificate: leaf.certificate + certificate.pem, key: leaf.key)
    }

    /// A box without a battery-backed clock must not make certificates that expired decades ago.
    static func plausible(_ now: Int64) -> Int64 {
        max(now, ClockSanity.earliestSeconds)
    }

    private static func make(now: Int64) throws(IoTError) -> X509Maker.Pair {
        try X509Maker.make(
            X509Maker.Request(
                organisation: CertificateAuthority.hubOrganisation, commonName: "hub \(Hex.random(byteCount: 8))",
                notBefore: now - 86_400, notAfter: now + years * 365 * 86_400,
                extensions: [
                    (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
                    (NID_key_usage, "critical,keyCertSign,cRLSign"), (NID_subject_key_identifier, "hash"),
                ]), issuer: nil)
    }

    private static func damaged(_ directory: String, _ error: IoTError?) -> IoTError {
        IoTError(
            .fileFailed,
            "\(directory)/ca.pem and ca-key.pem are not a pair",
            remedy: "restore them from a backup, or remove both; then every box must join again", underlying: error)
    }
}
