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
    let hub: LinkHub?
    let loops: any EventLoopGroup
    let logger: Logger

    func run() async throws {
        try await hub?.waitUntilReady()
        let certificate = try PeerCertificate.generate()
        let photos = PhotoStore()
        var cameras: [Camera] = []
        for camera in configuration.cameras {
            cameras.append(try await makeCamera(camera, certificate: certificate, photos: photos))
        }
        let (link, accessId) = try await makeLink()
        let socket = try await bind()
        let gateway = LocalGateway(
            link: link, accessId: accessId,
            registry: ChannelRegistry(
                link: link, socket: socket, certificate: certificate, limit: configuration.channels.connections,
                logger: Logger(label: "channel")),
            cameras: cameras, photos: photos, hub: hub, idleTimeout: configuration.channels.idleTimeout)
        let server = try APIServer(
            gateway: gateway, socket: configuration.socket, eventLoopGroup: loops, logger: logger)
        // Stopped from the last to the first.
        let services: [any Service] =
            cameras.map { $0 as any Service } + [
                link, ChannelSweep(uses: gateway.uses), server,
                ReadyLine(configuration: configuration, link: link, server: server),
            ]
        try await ServiceGroup(
            configuration: ServiceGroupConfiguration(services: services.map { .init(service: $0) }, logger: logger)
        ).run()
        await socket.close()
    }

    private func bind() async throws -> PeerSocket {
        let address = try SocketAddress(
            ipAddress: configuration.media.listen.host, port: configuration.media.listen.port)
        return try await PeerSocket.bind(to: address, on: loops.next(), logger: logger)
    }

    /// Each camera is a device of its own, with a UDP port of its own.
    private func makeCamera(
        _ camera: CameraConfiguration, certificate: PeerCertificate, photos: PhotoStore
    ) async throws -> Camera {
        guard let hub else { throw IoTError(.invalidConfiguration, "cameras need the hub of this daemon") }
        let (device, token) = try await hub.ensureDevice(name: camera.name)
        let cameraLogger = Logger(label: "camera.\(camera.name)")
        let link = LinkSession(
            configuration: LinkConfiguration(
                principal: .device(device), token: .value(token), endpoint: hub.endpoint), logger: cameraLogger)
        var address = try SocketAddress(ipAddress: configuration.media.listen.host, port: 0)
        address.port = 0
        return try Camera(
            configuration: MediaChannel.CameraConfiguration(
                name: camera.name, url: try camera.openableURL(), maximumViewers: camera.viewers,
                rtspTransport: camera.rtspTransport == .udp ? .udp : .tcp),
            device: device, link: link,
            socket: try await PeerSocket.bind(to: address, on: loops.next(), logger: cameraLogger),
            certificate: certificate, photos: photos, logger: cameraLogger)
    }

    private func makeLink() async throws -> (LinkSession, AccessID) {
        let accessId: AccessID
        let token: LinkToken
        if let configured = configuration.link.accessId, let file = configuration.link.tokenFile {
            accessId = configured
            token = .file(path: file)
        } else if let hub {
            accessId = try await hub.ensureOwner()
            token = .value(try await hub.ownerToken())
        } else {
            throw IoTError(.invalidConfiguration, "link.accessId and link.tokenFile are needed without a hub")
        }
        let endpoint: LinkEndpoint
        switch configuration.link.endpoint {
        case .unixSocket(let path)?: endpoint = .unixSocket(path: path)
        case .loopback(let host, let port)?: endpoint = .tcp(host: host, port: port)
        case nil:
            guard let hub else { throw IoTError(.invalidConfiguration, "link.endpoint is needed without a hub") }
            endpoint = hub.endpoint
        }
        let session = LinkSession(
            configuration: LinkConfiguration(principal: .user(accessId), token: token, endpoint: endpoint),
            logger: Logger(label: "link"))
        return (session, accessId)
    }
}
