import Foundation
import IoTCore
import LinkHub

/// Finds what a configuration needs but this machine lacks: programs, directories, addresses, files.
struct ConfigurationCheck {
    struct Finding: Sendable, Equatable, CustomStringConvertible {
        var key: String
        var reason: String

        var description: String { "\(key): \(reason)" }
    }

    /// Problems that prevent the daemon from starting.
    private(set) var errors: [Finding] = []
    /// Resources that are missing at the start and tried again later.
    private(set) var warnings: [Finding] = []

    init(_ configuration: Configuration, hasHub: Bool, isJoined: Bool, defaults: DefaultPaths = .current) {
        if hasHub { checkBroker(configuration.hub.mosquitto) }
        refuse("dataDirectory", PrivateDirectory.obstacle(toRoot: configuration.dataDirectory, defaults: defaults))
        refuse("socket", Self.obstacle(toSocket: configuration.socket, dataDirectory: configuration.dataDirectory))
        checkAddresses(configuration)
        checkEndpoint(configuration.link.endpoint)
        for camera in configuration.cameras { checkSource(camera) }
        warnings += Self.findings(configuration.recording, cameras: configuration.cameras.map(\.name))
        if let reason = configuration.mediaObstacle(isJoined: isJoined) {
            warnings.append(Finding(key: "media.listen", reason: reason))
        }
    }

    /// Throws `.invalidConfiguration` with every error, one a line.
    func throwErrors() throws(IoTError) {
        guard !errors.isEmpty else { return }
        throw IoTError(.invalidConfiguration, errors.map(\.description).joined(separator: "\n"))
    }

    private mutating func refuse(_ key: String, _ reason: String?) {
        if let reason { errors.append(Finding(key: key, reason: reason)) }
    }

    private mutating func checkBroker(_ program: String?) {
        do throws(IoTError) {
            _ = try BrokerLocator(configured: program)
        } catch {
            refuse("hub.mosquitto", "\(error.message); \(error.remedy)")
        }
    }

    /// The daemon creates the socket's directory, but not that directory's parent.
    private static func obstacle(toSocket path: String, dataDirectory: String) -> String? {
        let type = (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
        if let type, type != .typeSocket { return "\(path) exists and is not a socket" }
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent()
        // The data directory is created earlier.
        if directory.path == URL(fileURLWithPath: dataDirectory).path { return nil }
        if FileManager.default.fileExists(atPath: directory.path) {
            return PrivateDirectory.obstacle(in: directory.path)
        }
        let parent = directory.deletingLastPathComponent().path
        guard FileManager.default.fileExists(atPath: parent) else {
            return "the directory \(parent) does not exist, so \(directory.path) cannot be created in it"
        }
        return PrivateDirectory.obstacle(in: parent)
    }

    private mutating func checkAddresses(_ configuration: Configuration) {
        for case (let key, let host?) in [
            ("hub.tls.listen", configuration.hub.tls.listen?.host), ("api.listen", configuration.api.listen?.host),
            ("media.listen", configuration.media.listen?.host),
            ("provisioning.listen", configuration.provisioning.listen?.host),
        ] where !IPAddress.isLocal(host) {
            refuse(key, "this machine has no address \(host)")
        }
    }

    private mutating func checkEndpoint(_ endpoint: HubAddress?) {
        guard case .unixSocket(let path) = endpoint, access(path, W_OK) != 0 else { return }
        warnings.append(
            Finding(
                key: "link.endpoint",
                reason: "\(path): \(String(cString: strerror(errno))); the daemon will start and try again"))
    }

    private mutating func checkSource(_ camera: CameraSettings) {
        guard camera.source.kind == .file else { return }
        let path = camera.source.url
        var isDirectory: ObjCBool = false
        let reason: String
        if access(path, R_OK) != 0 {
            reason = String(cString: strerror(errno))
        } else if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue {
            reason = String(cString: strerror(EISDIR))
        } else {
            return
        }
        warnings.append(
            Finding(
                key: "camera '\(camera.name)', url",
                reason: "\(path): \(reason); the daemon will start and try again"))
    }
}
