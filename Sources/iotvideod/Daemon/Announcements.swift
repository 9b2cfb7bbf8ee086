import Gateway
import GatewayAPI
import IoTCore
import LinkHub
import Logging
import MediaChannel
import NIOCore
import NetConfig
import ServiceLifecycle

/// Announces this daemon's cameras on the network, if the configuration says so.
///
/// Cameras, their owners and the interfaces are checked every ten seconds, so a new camera, and a network that appears
/// after the start, are announced after that time.
struct Announcements: Service {
    let fleet: any CameraFleet
    /// `nil` on a box that has joined another hub: its devices were created for an account.
    let hub: LinkHub?
    let services: LocalServices
    let loops: any EventLoopGroup
    let logger: Logger

    private static let interval = Duration.seconds(10)

    func run() async throws {
        let announcer = try await WSDAnnouncer.start(on: loops.next())
        await cancelWhenGracefulShutdown {
            repeat {
                do {
                    let cameras = try await cameras()
                    try await announcer.update(cameras)
                    try await services.announce(cameras: Array(cameras.prefix(LocalServices.maximumCameras)))
                } catch {
                    logger.debug("the cameras cannot be announced now: \(error)")
                }
            } while (try? await Task.sleep(for: Self.interval)) != nil
        }
        try await announcer.stop()
        try await services.announce(cameras: [])
    }

    private func cameras() async throws -> [AnnouncedCamera] {
        let cameras = await fleet.cameras()
        let owned = try await hub?.ownedDevices(among: cameras.map(\.device))
        return cameras.map { camera in
            AnnouncedCamera(
                name: camera.settings.name, deviceID: camera.device.rawValue, productID: "iotvideod",
                version: ProductVersion.current, hasOwner: owned?.contains(camera.device) ?? true, port: camera.port)
        }
    }
}
