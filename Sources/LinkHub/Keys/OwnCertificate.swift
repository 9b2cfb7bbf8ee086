package import IoTCore
import IoTLink
import Synchronization

/// A server certificate of this box's own authority, in two files. It is renewed at each start, when two thirds of its
/// lifetime have passed, and when the names change.
package final class OwnCertificate: Sendable {
    /// 90 days, in s.
    static let lifetime: Int64 = 90 * 86_400

    package let certificateFile: String
    package let keyFile: String
    /// SHA-256 of the DER of the authority, which clients trust.
    package var authorityFingerprint: [UInt8] { authority.certificate.fingerprint }
    /// The authority as a PEM file.
    package var authorityFile: String { authority.certificateFile }

    let authority: HubAuthority
    private let names: @Sendable () -> [String]
    private let lifetime: Int64
    private let clock: @Sendable () -> Int64
    private let state = Mutex((renewAt: Int64.max, names: [String]()))

    /// - Parameters:
    ///   - path: The path of the files, without their extensions.
    ///   - names: Returns the current host names and addresses.
    ///   - clock: s since 1970.
    init(
        authority: HubAuthority, path: String, lifetime: Int64 = OwnCertificate.lifetime,
        clock: @escaping @Sendable () -> Int64 = { WallClock.milliseconds() / 1_000 },
        names: @escaping @Sendable () -> [String]
    ) throws(IoTError) {
        self.authority = authority
        self.names = names
        self.lifetime = lifetime
        self.clock = clock
        certificateFile = path + ".pem"
        keyFile = path + "-key.pem"
        try refresh()
    }

    /// The API's certificate, in `keys/` of a data directory. Creates the authority if it does not exist yet.
    package convenience init(
        apiIn dataDirectory: String, names: @escaping @Sendable () -> [String]
    ) throws(IoTError) {
        let authority = try HubAuthority(dataDirectory: dataDirectory, now: WallClock.milliseconds() / 1_000)
        try self.init(authority: authority, path: dataDirectory + "/keys/api", names: names)
    }

    /// Replaces the files when it is due.
    ///
    /// - Returns: Whether servers must read the files again.
    @discardableResult
    package func refresh() throws(IoTError) -> Bool {
        let now = HubAuthority.plausible(clock())
        let names = names()
        let (renewAt, known) = state.withLock { $0 }
        // After the clock was set back by more than a certificate's lifetime, the present certificate is not valid yet.
        guard renewAt == .max || now >= renewAt || renewAt - now > lifetime || names != known else { return false }
        let pair = try authority.issue(names: names, now: now, lifetime: lifetime)
        try PrivateFile.write(pair.key, to: keyFile)
        try PrivateFile.write(pair.certificate, to: certificateFile)
        state.withLock { $0 = (now + lifetime * 2 / 3, names) }
        return true
    }
}
