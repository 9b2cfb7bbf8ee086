import Foundation
import IoTCore
import IoTLink

/// What this box received when it joined another hub, as stored in its data directory.
///
/// `link/` contains `endpoint`, `enrolment` (the id of the used string), `ca.pem` for a TLS endpoint, and `accessId`
/// and `token` for a user. `cameras-joined/NAME/` contains `device` and `token` of each camera.
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
    /// `nil` for a box with cameras only.
    var user: User?
    /// By camera name.
    var devices: [String: Device] = [:]
    /// The id of the last used enrolment string.
    var enrolment: String?

    /// The name of the camera that is this device; `nil` if there is none.
    func name(of device: DeviceID) -> String? {
        devices.first { $0.value.id == device }?.key
    }

    /// - Returns: `nil` if this box has not joined a hub.
    /// - Throws: `.fileFailed` or `.invalidConfiguration` if the directory is damaged.
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

    /// Conflicts of the configuration with the joined hub, by key like those of `Configuration.conflicts`.
    static func conflicts(_ configuration: Configuration, joined: JoinedBox?) -> [Configuration.Conflict] {
        var conflicts: [Configuration.Conflict] = []
        let hasHub = configuration.hasHub(joined: joined)
        if joined != nil, hasHub {
            conflicts.append(
                .init(
                    key: "hub.enabled",
                    reason: "this box has joined another hub and cannot run one in the same data directory; use "
                        + "another one, or remove \(configuration.dataDirectory)/link to leave that hub"))
        }
        if joined == nil, configuration.provisioning.isOn {
            return conflicts + provisioningConflicts(configuration)
        }
        if joined == nil, !hasHub, configuration.link.endpoint == nil {
            conflicts.append(
                .init(
                    key: "hub.enabled",
                    reason: "without a hub here, link.endpoint must name one, or the box must join one (--join)"))
        }
        guard !hasHub else { return conflicts }
        for camera in configuration.cameras where joined?.devices[camera.name] == nil {
            conflicts.append(
                .init(
                    key: "cameras",
                    reason: "'\(camera.name)' is not a device of the hub yet; create an enrolment string on the hub "
                        + "with `iotctl token create --enrol --device \(camera.name)`, and pass it to --join here"))
        }
        return conflicts + listenerConflicts(configuration)
    }

    /// The conflict of a listener for a hub that this daemon does not run.
    private static func listenerConflicts(_ configuration: Configuration) -> [Configuration.Conflict] {
        guard configuration.hub.tls.listen != nil else { return [] }
        return [.init(key: "hub.tls.listen", reason: "needs a hub in this daemon")]
    }

    /// The conflicts that prevent a box without a hub from being provisioned.
    private static func provisioningConflicts(_ configuration: Configuration) -> [Configuration.Conflict] {
        var conflicts: [Configuration.Conflict] = []
        if configuration.cameras.count != 1 {
            conflicts.append(
                .init(
                    key: "provisioning.ways",
                    reason: "a box without a hub must have exactly one camera, which becomes the device; it has "
                        + "\(configuration.cameras.count)"))
        }
        if FileManager.default.fileExists(atPath: configuration.dataDirectory + "/hub.sqlite") {
            conflicts.append(
                .init(
                    key: "provisioning.ways",
                    reason: "\(configuration.dataDirectory) contains a hub, and a hub cannot join another; use another "
                        + "dataDirectory"))
        }
        // Once it is bound, the box has no hub of its own.
        return conflicts + listenerConflicts(configuration)
    }
}

extension Configuration {
    func hasHub(joined: JoinedBox?) -> Bool { hub.enabled ?? (joined == nil && !provisioning.isOn) }

    /// Reads what this box has joined, and checks that it fits the configuration.
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
