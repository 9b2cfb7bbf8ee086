import IoTCore
import IoTLink
import LinkHub
import Logging
import MediaChannel
import NIOCore
import PeerTransport
import ServiceLifecycle

/// The cameras, the gateway and the HTTP API, which begin when the hub is ready.
struct Roles: Service {
    let configuration: Configuration
    let joined: JoinedBox?
    /// The configuration as it is now.
    let read: @Sendable () throws(IoTError) -> Configuration
    let log: LogOutput
    let hub: LinkHub?
    let loops: any EventLoopGroup
    let logger: Logger

    func run() async throws {
        if let reason = configuration.mediaObstacle(isJoined: joined != nil) {
            logger.warning("media.listen: \(reason)")
        }
        try await hub?.waitUntilReady()
        let certificates = try PeerCertificatePool()
        let iceServers = try iceServers()
        let photos = PhotoStore()
        let user = try await UserLink.make(configuration, joined: joined, hub: hub)
        let link = user.session
        let socket = try await bind()
        let registry = ChannelRegistry(
            link: link, socket: socket, certificates: certificates, iceServers: iceServers,
            usesServersOfDevices: configuration.media.useCameraServers, logger: Logger(label: "channel"))
        let quotas = Quotas()
        quotas.apply(configuration.channels)
        let uses = ChannelUses(registry: registry, idleTimeout: configuration.channels.idleTimeout)
        let fleet = makeFleet(
            certificates: certificates, iceServers: iceServers, photos: photos, quotas: quotas, uses: uses)
        try await fleet.prepare()
        let gateway = LocalGateway(
            link: link, accessId: user.accessId, registry: registry, fleet: fleet, photos: photos, hub: hub,
            uses: uses, quotas: quotas, iceServers: iceServers)
        let server = try makeServer(gateway)
        // Stopped from the last to the first.
        let services: [any Service] =
            [fleet] + (user.isRegistered ? [link] : [])
            + [
                ChannelSweep(uses: uses), CertificateRotation(certificates: certificates), server,
                ReloadOnSignal(fleet: fleet),
                ReadyLine(
                    configuration: configuration, link: user.isRegistered ? link : nil, server: server, logger: logger),
            ]
        try await ServiceGroup(
            configuration: ServiceGroupConfiguration(services: services.map { .init(service: $0) }, logger: logger)
        ).run()
        await socket.close()
    }

    private func makeServer(_ gateway: LocalGateway) throws(IoTError) -> APIServer {
        let api = configuration.api
        var listeners = [APIListener.unixSocket(path: configuration.socket)]
        if let address = api.listen {
            var tls: APITLS?
            if api.isEncrypted { tls = try certificate(api) }
            listeners.append(.tcp(host: address.host, port: address.port, tls: tls))
        }
        var limits = APILimits()
        limits.requestTimeout = api.requestTimeout
        return try APIServer(
            gateway: gateway, listeners: listeners,
            access: APIAccess(names: api.names, allowedOrigins: api.allowedOrigins),
            audit: AuditLog(directory: configuration.dataDirectory, logger: logger), limits: limits,
            eventLoopGroup: loops, logger: logger)
    }

    /// The API's own certificate, or that of the hub's listener, which the hub renews.
    private func certificate(_ api: Configuration.API) throws(IoTError) -> APITLS {
        if let certificate = api.certificateFile, let key = api.keyFile {
            return APITLS(certificateFile: certificate, keyFile: key)
        }
        guard hub != nil, configuration.hub.tls.listen != nil else {
            throw IoTError(.invalidConfiguration, "api.listen: needs api.certificateFile, or a hub with hub.tls.listen")
        }
        let broker = configuration.dataDirectory + "/broker"
        return APITLS(certificateFile: broker + "/tls.pem", keyFile: broker + "/tls-key.pem")
    }

    private func bind() async throws -> PeerSocket {
        let listen = configuration.mediaAddress(isJoined: joined != nil)
        let address = try SocketAddress(ipAddress: listen.host, port: listen.port)
        return try await PeerSocket.bind(to: address, on: loops.next(), logger: logger)
    }

    private func iceServers() throws(IoTError) -> ICEServers {
        let secret = try configuration.media.turnSecretFile.map { path throws(IoTError) in try SecretFile.read(path) }
        return try ICEServers(urls: configuration.media.iceServers, secret: secret)
    }

    private func makeFleet(
        certificates: PeerCertificatePool, iceServers: ICEServers, photos: PhotoStore, quotas: Quotas,
        uses: ChannelUses
    ) -> CameraSupervisor<RunningCamera> {
        let factory = CameraFactory(
            hub: hub, dataDirectory: configuration.dataDirectory,
            host: configuration.mediaAddress(isJoined: joined != nil).host,
            certificates: certificates, photos: photos, iceServers: iceServers, loops: loops, log: log)
        let actions = CameraSupervisor<RunningCamera>.Actions(
            read: read, make: { camera, url in try await factory.make(camera, url: url) },
            apply: { [log] configuration in
                log.current = configuration.log.level
                quotas.apply(configuration.channels)
                await uses.setIdleTimeout(configuration.channels.idleTimeout)
            })
        return CameraSupervisor(configuration, actions: actions, logger: logger)
    }
}
