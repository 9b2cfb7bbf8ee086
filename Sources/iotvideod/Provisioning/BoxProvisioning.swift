import GatewayAPI
import IoTCore
import Logging
import NIOCore
import NetConfig
import ServiceLifecycle

/// The provisioning mode of a box: everything by which a person can give it a network and a hub, until it is bound or
/// its time is over.
struct BoxProvisioning: Sendable {
    let configuration: Configuration
    /// Not `nil` when a person asked for the mode.
    let joined: JoinedBox?
    let loops: any EventLoopGroup
    let logger: Logger

    private var keys: Configuration.Provisioning { configuration.provisioning }

    /// - Throws: why the mode cannot begin; `CancellationError`.
    func run() async throws {
        // Checked before: a box without a hub has one camera. One that has joined claims for its first.
        guard let camera = configuration.cameras.first else {
            throw IoTError(.invalidConfiguration, "provisioning.ways: there is no camera")
        }
        let onboarding = Onboarding(
            dataDirectory: configuration.dataDirectory, camera: camera.name, applier: try keys.makeApplier(),
            logger: logger)
        let server = keys.isServed ? try makeServer(onboarding, camera: camera.name) : nil
        let services = try await LocalServices(on: loops.next(), logger: logger)
        let ways = keys.ways.map(\.rawValue).joined(separator: ", ")
        logger.notice("this box waits to be given its network and its hub", metadata: ["provisioning.ways": "\(ways)"])
        let end = await Result {
            try await withThrowingTaskGroup(of: ProvisioningServer.End?.self) { group in
                defer { group.cancelAll() }
                if let server {
                    let isAnnounced = keys.ways.contains(.lan) && configuration.discovery.announce != false
                    let announcement = isAnnounced ? announcement(of: camera.name) : nil
                    group.addTask { try await serve(server, announcement, services) }
                }
                if keys.ways.contains(.qr) {
                    let watch = CodeWatch(
                        camera: try camera.openable(), lifetime: keys.timeout, onboarding: onboarding, logger: logger)
                    group.addTask { try await watched(watch, isOnly: server == nil) }
                }
                while let end = try await group.next() {
                    if let end { return end }
                }
                throw CancellationError()
            }
        }
        await services.close()
        if try end.get() == .timedOut {
            logger.notice("the provisioning mode ended because nobody used it in time")
        }
    }

    /// - Parameter announcement: what the network is told while the server listens.
    private func serve(
        _ server: ProvisioningServer, _ announcement: AnnouncedCamera?, _ services: LocalServices
    ) async throws -> ProvisioningServer.End? {
        try await withThrowingTaskGroup(of: ProvisioningServer.End?.self) { group in
            defer { group.cancelAll() }
            let (ports, port) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
            group.addTask { try await server.run { port.yield($0) } }
            if var announcement {
                group.addTask { [loops, logger] in
                    for await port in ports {
                        announcement.port = port
                        let cameras = [announcement]
                        try await Announcements(
                            cameras: { cameras }, services: services, loops: loops, logger: logger
                        ).run()
                    }
                    return nil
                }
            }
            while let end = try await group.next() {
                if let end { return end }
            }
            return nil
        }
    }

    private func watched(_ watch: CodeWatch, isOnly: Bool) async throws -> ProvisioningServer.End? {
        do throws(IoTError) {
            if try await watch.run() { return .bound }
        } catch {
            guard !isOnly else { throw error }
            // The other ways are open.
            logger.error("no code can be read: \(error.messageWithRemedy)")
        }
        return isOnly ? .timedOut : nil
    }

    private func announcement(of camera: String) -> AnnouncedCamera {
        var random = SystemRandomNumberGenerator()
        let device = joined?.devices[camera]?.id.rawValue
        return AnnouncedCamera(
            name: camera, deviceID: device,
            id: device ?? Hex.encode((0..<16).map { _ in UInt8.random(in: 0 ... .max, using: &random) }),
            productID: "iotvideod", version: ProductVersion.current, hasOwner: device != nil, port: 80)
    }

    private func makeServer(_ onboarding: Onboarding, camera: String) throws(IoTError) -> ProvisioningServer {
        let listen = try keys.address()
        return ProvisioningServer(
            ProvisioningServer.Configuration(
                host: listen.host, port: listen.port, credential: try keys.credential(),
                identity: DeviceIdentity(id: joined?.devices[camera]?.id.rawValue ?? ""), lifetime: keys.timeout,
                isWired: keys.ways.contains(.lan)),
            applier: OnboardingApplier(onboarding: onboarding),
            binder: { order throws(IoTError) in try await onboarding.bind(hub: order.hub, token: order.token).rawValue
            },
            logger: logger)
    }
}
