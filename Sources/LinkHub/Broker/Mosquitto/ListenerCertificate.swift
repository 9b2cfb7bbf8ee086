import Foundation
import IoTCore
import IoTLink
import Synchronization

/// The certificate of the broker's TLS listener, in the broker's directory. The hub's own authority issues it, or it is
/// a copy of a configured one.
final class ListenerCertificate: Sendable {
    /// The authority that clients must trust.
    let authority: CertificateAuthority
    /// The authority as a PEM file.
    let authorityFile: String
    let certificateFile: String
    let keyFile: String

    private let tls: HubTLS
    private let own: OwnCertificate?
    /// The configured certificate and key as they were last copied.
    private let copied = Mutex("")

    /// - Parameter clock: s since 1970.
    init(
        _ tls: HubTLS, dataDirectory: String, broker: BrokerDirectory,
        clock: @escaping @Sendable () -> Int64 = { WallClock.milliseconds() / 1_000 }
    ) throws(IoTError) {
        try tls.validate()
        self.tls = tls
        certificateFile = broker.path + "/tls.pem"
        keyFile = broker.path + "/tls-key.pem"
        if tls.certificateFile == nil {
            let own = try OwnCertificate(
                authority: try HubAuthority(dataDirectory: dataDirectory, now: clock()), path: broker.path + "/tls",
                lifetime: tls.leafLifetime, clock: clock, names: { tls.certificateNames })
            self.own = own
            authority = own.authority.certificate
            authorityFile = own.authorityFile
        } else {
            own = nil
            let given = try Self.readGiven(tls)
            authority = try Self.top(of: given.certificate)
            authorityFile = broker.path + "/tls-ca.pem"
            try PrivateFile.write(authority.pem, to: authorityFile)
            try refresh()
        }
    }

    /// Replaces the files when it is due.
    ///
    /// - Returns: Whether the broker must read them again.
    @discardableResult
    func refresh() throws(IoTError) -> Bool {
        if let own { return try own.refresh() }
        let given = try Self.readGiven(tls)
        let text = given.certificate + given.key
        guard copied.withLock({ $0 != text }) else { return false }
        try PrivateFile.write(given.key, to: keyFile)
        try PrivateFile.write(given.certificate, to: certificateFile)
        copied.withLock { $0 = text }
        return true
    }

    private static func readGiven(_ tls: HubTLS) throws(IoTError) -> X509Maker.Pair {
        let pair = X509Maker.Pair(
            certificate: try read(tls.certificateFile ?? "", "hub.tls.certificateFile", secrecy: nil),
            key: try read(tls.keyFile ?? "", "hub.tls.keyFile", secrecy: .ownerAndReadingGroup))
        do throws(IoTError) {
            try X509Maker.check(pair)
        } catch {
            throw IoTError(
                .invalidConfiguration, "hub.tls.certificateFile, hub.tls.keyFile: \(error.message)", underlying: error)
        }
        return pair
    }

    private static func read(_ path: String, _ key: String, secrecy: FileSecrecy?) throws(IoTError) -> String {
        do throws(IoTError) {
            guard let bytes = try PrivateFile.bytes(of: path, limit: 1 << 20, secrecy: secrecy) else {
                throw PrivateFile.missing(path)
            }
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            throw IoTError(.invalidConfiguration, "\(key): \(error.message)", remedy: error.remedy)
        }
    }

    /// The last certificate of a chain.
    private static func top(of chain: String) throws(IoTError) -> CertificateAuthority {
        let begin = "-----BEGIN CERTIFICATE-----"
        guard let last = chain.range(of: begin, options: .backwards) else {
            throw IoTError(.invalidConfiguration, "hub.tls.certificateFile: there is no certificate in PEM form")
        }
        return try CertificateAuthority(pem: String(chain[last.lowerBound...]))
    }
}
