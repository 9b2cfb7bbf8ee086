import Gateway
import IoTCore
import IoTLink
import LinkHub
import Logging
import MediaChannel
import NIOCore
import NetConfig
import PeerTransport
import ServiceLifecycle

/// The cameras, the gateway and the HTTP API. They start when the hub is ready.
struct Roles: Service {
    let configuration: Configuration
    var joined: JoinedBox?
    /// Reads the current configuration.
    let read: @Sendable () throws(IoTError) -> Configuration
    let log: LogOutput
    let hub: LinkHub?
    let loops: any EventLoopGroup
    let logger: Logger

    func run() async throws {
        if let reason = configuration.mediaObstacle(isJoined: joined != nil) {
            logger.warning("media.listen: \(reason)")
        }
        // A stop must not wait for a hub that is not ready yet.
        let start = await cancelWhenGracefulShutdown { await Result { try await prepare() } }
        if Task.isShuttingDownGracefully {
            try? await start.get().socket.close()
            return
        }
        let started = try start.get()
        try await ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: started.running.map { .init(named: $0) }, logger: logger)
        ).run()
        await started.services.close()
        await started.recordings?.close()
        await started.socket.close()
    }

    /// The services that `run` runs, and the socket that it closes at the end.
    private struct Started {
        var running: [any Service]
        var services: LocalServices
        var recordings: RecordingService?
        var socket: PeerSocket
    }

    private func prepare() async throws -> Started {
        try await hub?.waitUntilReady()
        let certificates = try PeerCertificatePool()
        let iceServers = try iceServers()
        let photos = PhotoStore()
        let user = try await UserLink.make(configuration, joined: joined, hub: hub)
        let socket = try await bind()
        let deviceKeys = DeviceKeyStore(path: configuration.dataDirectory + "/known_devices")
        let key = try DeviceKey(file: configuration.dataDirectory + "/gateway-key.pem")
        let services = try await LocalServices(on: loops.next(), logger: Logger(label: "discovery"))
        let search = LANSearch([WSDFinder(loops: loops), services])
        // The hub of this daemon is there whenever the daemon is.
        let network =
            hub == nil && user.isRegistered
            ? LANGatewayLink(
                hub: user.session, account: user.accessId, keys: deviceKeys, key: key,
                file: configuration.dataDirectory + "/lan_grants.json", find: { await search.addresses(of: $0) },
                loops: loops, logger: Logger(label: "lan"))
            : nil
        let link: any LANGatewayLink.Hub = network ?? user.session
        let calls = CallClient(link: link, key: key, trust: deviceKeys)
        let registry = ChannelRegistry(
            calls: calls, socket: socket, certificates: certificates, iceServers: iceServers,
            usesServersOfDevices: configuration.media.useCameraServers, logger: Logger(label: "channel"))
        let quotas = Quotas()
        quotas.apply(connections: configuration.channels.connections, calls: configuration.channels.calls)
        let uses = ChannelUses(registry: registry, idleTimeout: configuration.channels.idleTimeout)
        let recordings = try configuration.recording.directory.map { directory throws(IoTError) in
            try RecordingService(
                configuration.recording, directory: directory, dataDirectory: configuration.dataDirectory)
        }
        let audit = AuditLog(directory: configuration.dataDirectory, logger: logger)
        let firmwareLogger = Logger(label: "firmware")
        let supply = try FirmwareSupply(configuration, hasHub: hub != nil, logger: firmwareLogger)
        let firmware = supply?.box(logger: firmwareLogger)
        let lan = LANEntrance.make(configuration, on: loops)
        let fleet = makeFleet(
            lan: lan, certificates: certificates, iceServers: iceServers, photos: photos, recordings: recordings,
            upgrade: firmware, firmware: supply, quotas: quotas, uses: uses, audit: audit)
        try await fleet.prepare()
        let gateway = LocalGateway(
            link: link, accessId: user.accessId, hasAccount: user.isRegistered, registry: registry,
            relayed: RelayedCalls(calls: calls), fleet: fleet,
            preferredDefinitions: configuration.definitions.preferred, photos: photos, hub: hub, uses: uses,
            quotas: quotas, iceServers: iceServers,
            lan: LANAccess(search: search, onvif: ONVIFClient(loops: loops)),
            deviceKeys: deviceKeys, key: key.publicKey.fingerprint, log: log.ring, recordings: recordings?.access,
            notices: try NoticeCenter(
                path: configuration.dataDirectory + "/notices.json", sender: WebhookSender(loops: loops)))
        let ownCertificate = try makeCertificate()
        let server = try makeServer(gateway, certificate: ownCertificate?.files, audit: audit)
        let rtsp = try makeRTSPServer(gateway, certificate: ownCertificate?.files, audit: audit)
        // Services stop in reverse order.
        let running: [any Service] =
            (firmware.map { [$0] } ?? []) + (lan.map { [$0.server] } ?? []) + [fleet]
            + (user.isRegistered ? [user.session] : [])
            + (network.map { [LANService(link: $0)] } ?? []) + announcements(fleet, services)
            + (ownCertificate.map { [$0] } ?? [])
            + [
                ChannelSweep(uses: uses), CertificateRotation(certificates: certificates), MemoryTrim(),
                ServedGateway(gateway: gateway, server: server), ReloadOnSignal(fleet: fleet),
            ] + (rtsp.map { [$0] } ?? []) + [
                ReadyLine(
                    configuration: configuration, link: user.isRegistered ? user.session : nil, server: server,
                    rtsp: rtsp,
                    logger: logger)
            ]
        return Started(running: running, services: services, recordings: recordings, socket: socket)
    }

    private func announcements(_ fleet: any CameraFleet, _ services: LocalServices) -> [any Service] {
        guard configuration.announces(isJoined: joined != nil) else { return [] }
        return [
            Announcements(
                cameras: { [hub] in try await Announcements.running(fleet, hub: hub) }, services: services,
                loops: loops, logger: Logger(label: "discovery"))
        ]
    }

    private func makeServer(
        _ gateway: LocalGateway, certificate: APITLS?, audit: AuditLog
    ) throws(IoTError) -> APIServer {
        let api = configuration.api
        var listeners = [APIListener.unixSocket(path: configuration.socket)]
        if let address = api.listen {
            let tls = api.isEncrypted ? givenCertificate ?? certificate : nil
            listeners.append(.tcp(host: address.host, port: address.port, tls: tls))
        }
        var limits = APILimits()
        limits.requestTimeout = api.requestTimeout
        return try APIServer(
            gateway: gateway, listeners: listeners,
            access: APIAccess(names: api.names + APICertificate.hostNames, allowedOrigins: api.allowedOrigins),
            audit: audit, limits: limits, eventLoopGroup: loops, logger: logger)
    }

    private func makeRTSPServer(
        _ gateway: LocalGateway, certificate: APITLS?, audit: AuditLog
    ) throws(IoTError) -> RTSPServer? {
        guard let address = configuration.rtsp.listen else { return nil }
        var context: TLSContext?
        if configuration.rtsp.isEncrypted, let files = givenCertificate ?? certificate {
            context = try TLSContext(files)
        }
        return RTSPServer(
            gateway: gateway, address: address, udpPort: configuration.rtsp.udpPort, tls: context, loops: loops,
            record: RTSPRecord(audit: audit, metrics: .shared), logger: Logger(label: "rtsp"))
    }

    /// The certificate that the configuration names for the API, otherwise the one for the hub's listener.
    private var givenCertificate: APITLS? {
        if let certificate = configuration.api.certificateFile, let key = configuration.api.keyFile {
            return APITLS(certificateFile: certificate, keyFile: key)
        }
        guard configuration.hub.tls.certificateFile != nil else { return nil }
        return hub?.tlsCertificateFiles.map { APITLS(certificateFile: $0.certificate, keyFile: $0.key) }
    }

    /// A certificate of this box's own authority, if one is needed.
    private func makeCertificate() throws(IoTError) -> APICertificate? {
        let (api, rtsp) = (configuration.api, configuration.rtsp)
        let isNeeded = api.listen != nil && api.isEncrypted || rtsp.listen != nil && rtsp.isEncrypted
        guard isNeeded, givenCertificate == nil else { return nil }
        return try APICertificate(configuration, logger: logger)
    }

    private func bind() async throws -> PeerSocket {
        let listen = configuration.mediaAddress(isJoined: joined != nil)
        return try await PeerSocket.bind(listen, on: loops.next(), logger: logger)
    }

    private func iceServers() throws(IoTError) -> ICEServers {
        let secret = try configuration.media.turnSecretFile.map { path throws(IoTError) in try SecretFile.read(path) }
        return try ICEServers(urls: configuration.media.iceServers, secret: secret)
    }

    private func makeFleet(
        lan: LANEntrance?, certificates: PeerCertificatePool, iceServers: ICEServers, photos: PhotoStore,
        recordings: RecordingService?, upgrade: (any CameraUpgrade)?, firmware: FirmwareSupply?, quotas: Quotas,
        uses: ChannelUses, audit: AuditLog
    ) -> CameraSupervisor<RunningCamera> {
        let factory = CameraFactory(
            hub: hub, dataDirectory: configuration.dataDirectory,
            host: configuration.mediaAddress(isJoined: joined != nil).host,
            certificates: certificates, photos: photos, recordings: recordings, upgrade: upgrade,
            firmware: firmware, lan: lan,
            iceServers: iceServers, loops: loops, log: log)
        let actions = CameraSupervisor<RunningCamera>.Actions(
            read: read, make: { camera in try await factory.make(camera) }, check: factory.checkRecording,
            apply: { [log] configuration in
                log.apply(configuration.log)
                audit.reopen()
                quotas.apply(connections: configuration.channels.connections, calls: configuration.channels.calls)
                await uses.setIdleTimeout(configuration.channels.idleTimeout)
            })
        return CameraSupervisor(configuration, actions: actions, logger: logger)
    }
}

extension PeerSocket {
    /// - Throws: why the address of `media.listen` could not be used.
    static func bind(_ listen: ListenAddress, on loop: any EventLoop, logger: Logger) async throws -> PeerSocket {
        do {
            return try await bind(
                to: try SocketAddress(ipAddress: listen.host, port: listen.port), on: loop, logger: logger)
        } catch let error as IOError {
            throw ListenFailure.error(
                "media.listen", .udp, host: listen.host, port: listen.port, reason: error.errnoCode, underlying: error)
        }
    }
}
