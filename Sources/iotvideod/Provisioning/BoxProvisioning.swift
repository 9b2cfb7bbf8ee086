import GatewayAPI
import IoTCore
import IoTLink
import Logging
import NIOCore
import NetConfig
import ServiceLifecycle

/// The provisioning mode of a box: serves all configured ways in which a person can set its network and hub. It ends when
/// the box is bound, or after its time-out.
struct BoxProvisioning: Sendable {
    let configuration: Configuration
    /// Not `nil` if the box has a hub and the mode was requested by `--provision`.
    let joined: JoinedBox?
    let loops: any EventLoopGroup
    let logger: Logger

    private var keys: Configuration.Provisioning { configuration.provisioning }

    /// - Throws: The reason why the mode cannot begin; `CancellationError`.
    func run() async throws {
        // The configuration was checked: a box without a hub has exactly one camera. A box with a hub claims its first camera.
        guard let camera = configuration.cameras.first else {
            throw IoTError(.invalidConfiguration, "provisioning.ways needs a camera")
        }
        let onboarding = Onboarding(
            joining: Joining(dataDirectory: configuration.dataDirectory), camera: camera.name,
            applier: try keys.makeApplier(), logger: logger)
        let key = try CameraFiles(dataDirectory: configuration.dataDirectory, camera: camera.name).key()
        let fingerprint = key.publicKey.fingerprint
        let identity = DeviceIdentity(
            id: joined?.devices[camera.name]?.id.rawValue ?? "", keyFingerprint: fingerprint.bytes)
        let server = keys.isServed ? try makeServer(onboarding, identity: identity) : nil
        let plaintext = keys.ways.contains(.plaintext) ? try makePlaintext(onboarding, identity: identity) : nil
        let services = try await LocalServices(on: loops.next(), logger: logger)
        let ways = keys.ways.map(\.rawValue).joined(separator: ", ")
        logger.notice(
            "waiting for a person to set the network and the hub of this box",
            metadata: ["provisioning.ways": "\(ways)"])
        let end = await Result {
            try await withThrowingTaskGroup(of: ProvisioningServer.End?.self) { group in
                defer { group.cancelAll() }
                if let server {
                    let isAnnounced = keys.ways.contains(.lan) && configuration.discovery.announce != false
                    let announcement = isAnnounced ? try announcement(of: camera.name, key: fingerprint) : nil
                    group.addTask { try await serve(server, announcement, services) }
                }
                if let plaintext { group.addTask { try await plaintext.run() } }
                if keys.ways.contains(.qr) {
                    let watch = CodeWatch(
                        camera: try camera.openable(), lifetime: keys.timeout, onboarding: onboarding, logger: logger)
                    group.addTask { try await watched(watch, isOnly: !keys.listens) }
                }
                return try await Self.firstEnd(of: &group, onboarding)
            }
        }
        await services.close()
        if try end.get() == .timedOut {
            logger.notice("the provisioning mode timed out")
        }
    }

    /// The first end of a way that has a result. The other ways are not cancelled during an attempt, because its token
    /// would be lost; a way whose time has ended waits for the others, which end at the same time or after their attempt.
    static func firstEnd(
        of group: inout ThrowingTaskGroup<ProvisioningServer.End?, any Error>, _ onboarding: Onboarding
    ) async throws -> ProvisioningServer.End {
        var isTimedOut = false
        while let next = try await group.next() {
            guard let end = next else { continue }
            switch end {
            case .bound, .connected:
                await onboarding.finish()
                return end
            case .timedOut: isTimedOut = true
            }
        }
        guard isTimedOut else { throw CancellationError() }
        return .timedOut
    }

    /// - Parameter announcement: The announcement to send while the server listens.
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
            return try await watch.run() ? .bound : .timedOut
        } catch {
            guard !isOnly else { throw error }
            // The other ways continue.
            logger.error("the camera cannot read QR codes: \(error.messageWithRemedy)")
            return nil
        }
    }

    private func announcement(
        of camera: String, key: KeyFingerprint
    ) throws(IoTError) -> AnnouncedCamera {
        var random = SystemRandomNumberGenerator()
        let device = joined?.devices[camera]?.id.rawValue
        return AnnouncedCamera(
            name: camera, deviceID: device,
            id: device ?? Hex.encode((0..<16).map { _ in UInt8.random(in: 0 ... .max, using: &random) }),
            productID: "iotvideod", version: ProductVersion.current, hasOwner: device != nil,
            keyFingerprint: key, port: 80, address: try keys.onlyAddress())
    }

    private func makeServer(
        _ onboarding: Onboarding, identity: DeviceIdentity
    ) throws(IoTError) -> ProvisioningServer {
        let listen = try keys.address()
        return ProvisioningServer(
            ProvisioningServer.Configuration(
                host: listen.host, port: listen.port, credential: try keys.credential(),
                identity: identity, lifetime: keys.timeout, isWired: keys.ways.contains(.lan)),
            applier: OnboardingApplier(onboarding: onboarding), binder: Self.binder(onboarding), logger: logger)
    }

    private func makePlaintext(
        _ onboarding: Onboarding, identity: DeviceIdentity
    ) throws(IoTError) -> PlaintextProvisioning {
        PlaintextProvisioning(
            PlaintextProvisioning.Configuration(
                host: try keys.address().host, identity: identity, lifetime: keys.timeout),
            applier: OnboardingApplier(onboarding: onboarding), binder: Self.binder(onboarding),
            check: { order throws(IoTError) in _ = try EnrolmentString(hub: order.hub, token: order.token) },
            logger: logger)
    }

    private static func binder(_ onboarding: Onboarding) -> ProvisioningServer.Binder {
        { order throws(IoTError) in try await onboarding.bind(hub: order.hub, token: order.token).rawValue }
    }
}
