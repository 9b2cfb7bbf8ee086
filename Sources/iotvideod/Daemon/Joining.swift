import Foundation
import IoTCore
import IoTLink

/// Joins another hub: exchanges an enrolment string and stores the result.
struct Joining {
    /// Exchanges a string; the second parameter is the device's own name.
    typealias Exchange = @Sendable (EnrolmentString, String?, Duration) async throws(IoTError) -> EnrolmentGrant

    let dataDirectory: String
    private let exchange: Exchange

    static let timeout = Duration.seconds(30)
    private static let maximumInput = 8192

    init(dataDirectory: String) {
        self.init(dataDirectory: dataDirectory) { string, name, timeout throws(IoTError) in
            try await Enrolment.exchange(string, name: name, timeout: timeout)
        }
    }

    init(dataDirectory: String, exchange: @escaping Exchange) {
        self.dataDirectory = dataDirectory
        self.exchange = exchange
    }

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
    func join(with string: EnrolmentString, cameras: [String]) async throws(IoTError) -> JoinedBox {
        let before = try JoinedBox.load(dataDirectory: dataDirectory)
        if let before, before.enrolment == string.id { return before }
        let free = cameras.first { before?.devices[$0] == nil }
        let grant = try await grant(for: string, before: before, name: free, timeout: Self.timeout)
        return try keep(grant, of: string, before: before, only: cameras.count == 1 ? free : nil)
    }

    /// Joins with a string for one device, which becomes `camera`, whatever name the hub has given the device.
    ///
    /// - Parameter camera: a camera that has not joined.
    /// - Parameter timeout: the time limit for the hub's answer.
    /// - Throws: the same errors as `join(from:cameras:)`, and `.notBindable` for a string for an account alone, for
    ///   several devices, or for another camera of this box. Then nothing is stored.
    func join(
        with string: EnrolmentString, as camera: String, timeout: Duration
    ) async throws(IoTError) -> JoinedBox {
        let before = try JoinedBox.load(dataDirectory: dataDirectory)
        let grant = try await grant(for: string, before: before, name: camera, timeout: timeout)
        guard grant.devices.count == 1 else {
            throw IoTError(
                .notBindable,
                grant.devices.isEmpty
                    ? "the token is for an account, not for a device"
                    : "the token is for \(grant.devices.count) devices, and this box has one camera",
                remedy: "make one with `iotctl net token`")
        }
        if let other = before?.name(of: grant.devices[0].device) {
            throw IoTError(
                .notBindable, "the token is for '\(other)', another camera of this box",
                remedy: "make one without --device")
        }
        return try keep(grant, of: string, before: before, only: camera)
    }

    private func grant(
        for string: EnrolmentString, before: JoinedBox?, name: String?, timeout: Duration
    ) async throws(IoTError) -> EnrolmentGrant {
        guard !FileManager.default.fileExists(atPath: dataDirectory + "/hub.sqlite") else {
            throw IoTError(
                .invalidConfiguration,
                "--join: \(dataDirectory) contains a hub, and a hub cannot join another",
                remedy: "use another --data-dir")
        }
        if let before, try !Self.isHub(of: before, string) {
            throw IoTError(
                .invalidConfiguration,
                "--join: this box belongs to the hub at \(before.endpoint)",
                remedy: "to leave it, remove \(dataDirectory)/link and \(dataDirectory)/cameras-joined, and join with "
                    + "a new string")
        }
        // Created before the exchange uses up the string.
        try PrivateDirectory.makeRoot(dataDirectory)
        try PrivateDirectory.make(dataDirectory + "/link")
        try PrivateDirectory.make(dataDirectory + "/cameras-joined")
        return try await exchange(string, name, timeout)
    }

    /// Writes the endpoint after the credentials: without it the box counts as not joined.
    ///
    /// - Parameter camera: the only camera of this box, if it has not joined. The only device of a grant becomes this
    ///   camera, whatever name the hub has given the device, unless the device is another camera that has joined.
    private func keep(
        _ grant: EnrolmentGrant, of string: EnrolmentString, before: JoinedBox?, only camera: String?
    ) throws(IoTError) -> JoinedBox {
        let link = dataDirectory + "/link"
        for device in grant.devices {
            // The name becomes that of a directory.
            guard DeviceName.isValid(device.name) else {
                throw IoTError(.modelReceiveFailed, "the hub sent a device with the invalid name '\(device.name)'")
            }
            let folder = dataDirectory + "/cameras-joined/" + Self.name(device, of: grant, before: before, only: camera)
            try PrivateDirectory.make(folder)
            try PrivateFile.write(device.token + "\n", to: folder + "/token")
            try PrivateFile.write(device.device.rawValue + "\n", to: folder + "/device")
        }
        if let user = grant.user {
            try PrivateFile.write(user.token + "\n", to: link + "/token")
            try PrivateFile.write(user.accessID.rawValue + "\n", to: link + "/accessId")
        }
        if let authority = grant.certificateAuthority { try PrivateFile.write(authority, to: link + "/ca.pem") }
        try PrivateFile.write(Self.address(of: string).description + "\n", to: link + "/endpoint")
        try PrivateFile.write(string.id + "\n", to: link + "/enrolment")
        guard let joined = try JoinedBox.load(dataDirectory: dataDirectory) else {
            throw IoTError(.fileFailed, "\(link) does not contain what was written")
        }
        return joined
    }

    /// The camera's name here, which can differ from the device's name at the hub.
    private static func name(
        _ device: EnrolmentTokens.Device, of grant: EnrolmentGrant, before: JoinedBox?, only camera: String?
    ) -> String {
        // A device that enrols again keeps its name here.
        if let known = before?.name(of: device.device) { return known }
        guard let camera, grant.devices.count == 1, before?.devices[device.name] == nil else { return device.name }
        return camera
    }

    private static func address(of string: EnrolmentString) -> HubAddress {
        switch string.place {
        case .tls(let host, let port, _): .tcp(host: host, port: port)
        case .unixSocket(let path): .unixSocket(path)
        }
    }

    /// Whether the string belongs to the hub that this box has joined. A hub is identified by its authority, whatever its
    /// address; without an authority, by its socket.
    static func isHub(of before: JoinedBox, _ string: EnrolmentString) throws(IoTError) -> Bool {
        switch string.place {
        case .unixSocket:
            return before.certificateAuthorityFile == nil && before.endpoint == address(of: string)
        case .tls(_, _, let authority):
            guard let file = before.certificateAuthorityFile else { return false }
            return try CertificateAuthority(file: file).fingerprint == authority
        }
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
