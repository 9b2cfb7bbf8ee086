import Foundation
import IoTCore
import IoTLink

/// What this box got when it joined another's hub, as its data directory keeps it.
///
/// `link/` holds `endpoint`, `enrolment` (the id of the string that was used), `ca.pem` behind a TLS endpoint, and for
/// a user `accessId` and `token`; `cameras-joined/NAME/` holds `device` and `token` of each camera.
struct JoinedBox: Sendable, Equatable {
    struct User: Sendable, Equatable {
        var accessId: AccessID
        var tokenFile: String
    }

    struct Device: Sendable, Equatable {
        var id: DeviceID
        var tokenFile: String
    }

    var endpoint: HubAddress
    var certificateAuthorityFile: String?
    /// `nil` for a box that has cameras alone.
    var user: User?
    /// By the camera's name.
    var devices: [String: Device] = [:]
    /// Of the last string that was used.
    var enrolment: String?

    /// - Returns: `nil` for a box that has not joined.
    /// - Throws: `.fileFailed` or `.invalidConfiguration` for a directory that was damaged.
    static func load(dataDirectory: String) throws(IoTError) -> JoinedBox? {
        let link = dataDirectory + "/link"
        guard let text = try line(of: link + "/endpoint") else { return nil }
        guard let endpoint = HubAddress(text) else {
            throw IoTError(
                .invalidConfiguration, "\(link)/endpoint is damaged", remedy: "join again with a new enrolment string")
        }
        var box = JoinedBox(endpoint: endpoint)
        if FileManager.default.fileExists(atPath: link + "/ca.pem") { box.certificateAuthorityFile = link + "/ca.pem" }
        guard endpoint.isLocal || box.certificateAuthorityFile != nil else {
            throw IoTError(
                .invalidConfiguration, "\(link)/ca.pem is missing", remedy: "join again with a new enrolment string")
        }
        if let text = try line(of: link + "/accessId") {
            guard let id = AccessID(rawValue: text) else {
                throw IoTError(
                    .invalidConfiguration, "\(link)/accessId is damaged",
                    remedy: "join again with a new enrolment string")
            }
            box.user = User(accessId: id, tokenFile: link + "/token")
        }
        box.enrolment = try line(of: link + "/enrolment")
        let cameras = dataDirectory + "/cameras-joined"
        for name in (try? FileManager.default.contentsOfDirectory(atPath: cameras)) ?? [] where DeviceName.isValid(name)
        {
            let folder = cameras + "/" + name
            guard let text = try line(of: folder + "/device"), let id = DeviceID(rawValue: text) else {
                throw IoTError(
                    .invalidConfiguration, "\(folder)/device is missing or damaged",
                    remedy: "join again with a new enrolment string")
            }
            box.devices[name] = Device(id: id, tokenFile: folder + "/token")
        }
        return box
    }

    private static func line(of path: String) throws(IoTError) -> String? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return try SecretFile.read(path)
    }

    /// What a joined box cannot be: told by key, as `Configuration.conflicts` does.
    static func conflicts(_ configuration: Configuration, joined: JoinedBox?) -> [Configuration.Conflict] {
        var conflicts: [Configuration.Conflict] = []
        let hasHub = configuration.hasHub(joined: joined)
        if joined != nil, hasHub {
            conflicts.append(
                .init(
                    key: "hub.enabled",
                    reason: "this box has joined another hub and cannot run one in the same data directory; take "
                        + "another, or remove \(configuration.dataDirectory)/link to leave that hub"))
        }
        if joined == nil, !hasHub, configuration.link.endpoint == nil {
            conflicts.append(
                .init(
                    key: "hub.enabled",
                    reason: "without a hub here, link.endpoint must name another, or the box must join one (--join)"))
        }
        guard !hasHub else { return conflicts }
        for camera in configuration.cameras where joined?.devices[camera.name] == nil {
            conflicts.append(
                .init(
                    key: "cameras",
                    reason: "'\(camera.name)' is no device of the hub yet; make an enrolment string for it there, with "
                        + "`iotctl token create --enrol --device \(camera.name)`, and give it to --join here"))
        }
        if configuration.hub.tls.listen != nil {
            conflicts.append(.init(key: "hub.tls.listen", reason: "needs the hub in this daemon"))
        }
        return conflicts
    }
}

extension Configuration {
    func hasHub(joined: JoinedBox?) -> Bool { hub.enabled ?? (joined == nil) }

    /// Reads what this box has joined, and checks that it and the configuration go together.
    ///
    /// - Throws: `.invalidConfiguration` with every conflict, one a line.
    func joinedBox() throws(IoTError) -> JoinedBox? {
        let joined = try JoinedBox.load(dataDirectory: dataDirectory)
        let conflicts = JoinedBox.conflicts(self, joined: joined)
        guard conflicts.isEmpty else {
            throw IoTError(
                .invalidConfiguration, conflicts.map { "\($0.key): \($0.reason)" }.joined(separator: "\n"))
        }
        return joined
    }
}
