import Foundation
import IoTCore
import IoTLink

/// Joins another hub: exchanges an enrolment string and stores the result.
struct Joining {
    let dataDirectory: String

    static let timeout = Duration.seconds(30)
    private static let maximumInput = 8192

    /// - Parameters:
    ///   - source: a file's path, or `-` for standard input.
    ///   - cameras: the names of the configured cameras. A provisioning token without a device is for the first one that
    ///     has not joined yet.
    /// - Returns: what this box has joined. If it has used this string before, that stays unchanged.
    /// - Throws: `.invalidConfiguration` for a directory with a hub or of another hub, `.provisioningTokenFailed` for a
    ///   malformed string, `.provisioningTokenExpired` for a used or expired one, and why the hub could not be
    ///   reached.
    func join(from source: String, cameras: [String] = []) async throws(IoTError) -> JoinedBox {
        try await join(with: try EnrolmentString(parsing: try Self.read(source)), cameras: cameras)
    }

    /// Like `join(from:cameras:)`.
    ///
    /// - Parameter timeout: the time limit for the hub's answer.
    func join(
        with string: EnrolmentString, cameras: [String], timeout: Duration = Self.timeout
    ) async throws(IoTError) -> JoinedBox {
        let before = try JoinedBox.load(dataDirectory: dataDirectory)
        if let before, before.enrolment == string.id { return before }
        guard !FileManager.default.fileExists(atPath: dataDirectory + "/hub.sqlite") else {
            throw IoTError(
                .invalidConfiguration,
                "--join: \(dataDirectory) contains a hub, and a hub cannot join another",
                remedy: "use another --data-dir")
        }
        // Created before the exchange uses up the string.
        try PrivateDirectory.makeRoot(dataDirectory)
        try PrivateDirectory.make(dataDirectory + "/link")
        try PrivateDirectory.make(dataDirectory + "/cameras-joined")
        let grant = try await Enrolment.exchange(
            string, name: cameras.first { before?.devices[$0] == nil }, timeout: timeout)
        try keep(grant, of: string, before: before, camera: cameras.count == 1 ? cameras.first : nil)
        guard let joined = try JoinedBox.load(dataDirectory: dataDirectory) else {
            throw IoTError(.fileFailed, "\(dataDirectory)/link does not contain what was written")
        }
        return joined
    }

    /// Writes the endpoint after the credentials: without it the box counts as not joined.
    ///
    /// - Parameter camera: the only camera of this box. It becomes the only device of the grant, whatever name the hub has
    ///   given the device.
    func keep(
        _ grant: EnrolmentGrant, of string: EnrolmentString, before: JoinedBox?, camera: String? = nil
    ) throws(IoTError) {
        let link = dataDirectory + "/link"
        let address = try Self.address(of: string)
        if let before, try !Self.isSameHub(before, address: address, authority: grant.certificateAuthority) {
            throw IoTError(
                .invalidConfiguration,
                "--join: this box belongs to the hub at \(before.endpoint)",
                remedy: "to leave it, remove \(link) and \(dataDirectory)/cameras-joined, and join with a new string")
        }
        for device in grant.devices {
            // The name becomes that of a directory.
            guard DeviceName.isValid(device.name) else {
                throw IoTError(.modelReceiveFailed, "the hub sent a device with the invalid name '\(device.name)'")
            }
            let name = grant.devices.count == 1 ? camera ?? device.name : device.name
            let folder = dataDirectory + "/cameras-joined/" + name
            try PrivateDirectory.make(folder)
            try PrivateFile.write(device.token + "\n", to: folder + "/token")
            try PrivateFile.write(device.device.rawValue + "\n", to: folder + "/device")
        }
        if let user = grant.user {
            try PrivateFile.write(user.token + "\n", to: link + "/token")
            try PrivateFile.write(user.accessID.rawValue + "\n", to: link + "/accessId")
        }
        if let authority = grant.certificateAuthority { try PrivateFile.write(authority, to: link + "/ca.pem") }
        try PrivateFile.write(address.description + "\n", to: link + "/endpoint")
        try PrivateFile.write(string.id + "\n", to: link + "/enrolment")
    }

    static func address(of string: EnrolmentString) throws(IoTError) -> HubAddress {
        switch string.place {
        case .tls(let host, let port, _): .tcp(host: host, port: port)
        case .unixSocket(let path): .unixSocket(path)
        }
    }

    /// Whether the string belongs to the hub that this box has joined.
    static func isHub(of before: JoinedBox, _ string: EnrolmentString) throws(IoTError) -> Bool {
        switch string.place {
        case .unixSocket:
            let address = try address(of: string)
            return before.certificateAuthorityFile == nil && before.endpoint == address
        case .tls(_, _, let authority):
            guard let file = before.certificateAuthorityFile else { return false }
            return try CertificateAuthority(file: file).fingerprint == authority
        }
    }

    /// A hub is identified by its authority, whatever its address; without an authority, by its socket.
    private static func isSameHub(
        _ before: JoinedBox, address: HubAddress, authority: String?
    ) throws(IoTError) -> Bool {
        guard let file = before.certificateAuthorityFile else { return authority == nil && before.endpoint == address }
        let known = try Configuration.text(of: file)
        return known.trimmingCharacters(in: .whitespacesAndNewlines)
            == authority?.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func read(_ source: String) throws(IoTError) -> String {
        guard source == "-" else { return try Configuration.text(of: source) }
        do {
            let data = try FileHandle.standardInput.read(upToCount: maximumInput) ?? Data()
            return String(decoding: data, as: UTF8.self)
        } catch {
            throw IoTError(.fileFailed, "--join: cannot read standard input", underlying: error)
        }
    }
}
