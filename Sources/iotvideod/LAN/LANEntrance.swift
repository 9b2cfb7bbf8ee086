import IoTCore
import IoTLink
import LANLink
import Logging
import NIOCore
import ThingModel

/// Makes the cameras here reachable over the local network: the listener, and a link for each camera.
struct LANEntrance: Sendable {
    let server: LANServer
    private let door: LANDoor

    /// - Returns: `nil` without `lan.listen`.
    static func make(_ configuration: Configuration, on loops: any EventLoopGroup) -> LANEntrance? {
        guard let address = configuration.lan.listen else { return nil }
        let door = LANDoor(logger: Logger(label: "lan"))
        return LANEntrance(server: LANServer(address, door, on: loops), door: door)
    }

    /// A camera's link to its hub, and to callers on the network.
    func makeLink(
        _ configuration: LinkConfiguration, of device: DeviceID, key: DeviceKey, _ settings: CameraSettings,
        file: String, logger: Logger
    ) -> LANDeviceLink {
        var configuration = configuration
        let relay = LANTrustRelay()
        configuration.onGrantTrust = { relay.link?.trust($0) }
        configuration.onRightsWithdrawn = { relay.link?.withdraw($0) }
        let link = LANDeviceLink(
            device: device, key: key, hub: LinkSession(configuration: configuration, logger: logger), door: door,
            callers: CallerKeys(checked: settings.callers), isAllowed: settings.lan == .allow,
            file: LANTrustFile(path: file), logger: logger)
        relay.set(link)
        return link
    }

    var place: @Sendable () -> LANPlace? { { [server] in server.place } }
}
