import GatewayAPI
import IoTCore
import IoTLink
import LinkHub
import Logging
import MediaChannel
import NIOCore
import PeerTransport

/// Makes a camera of the configuration a device: of the hub here, or of the one that this box has joined.
struct CameraFactory: Sendable {
    let hub: LinkHub?
    let dataDirectory: String
    /// Each camera takes a free UDP port of this address.
    let host: String
    let certificates: PeerCertificatePool
    let photos: PhotoStore
    let iceServers: ICEServers
    let loops: any EventLoopGroup
    let log: LogOutput

    /// - Parameter settings: as to be opened.
    func make(_ settings: CameraSettings) async throws -> RunningCamera {
        let label = "camera.\(settings.name)"
        let logger = Logger(label: label)
        let session = try await session(of: settings.name)
        let link = LinkSession(configuration: session.link, logger: logger)
        let socket = try await PeerSocket.bind(ListenAddress(host: host, port: 0), on: loops.next(), logger: logger)
        do {
            let camera = try Camera(
                settings: settings, softwareVersion: ProductVersion.number, iceServers: iceServers,
                device: session.device, link: link, socket: socket, certificates: certificates, photos: photos,
                logger: logger
            ) { [log] in log.setLevel($0, of: label) }
            return RunningCamera(camera: camera, socket: socket)
        } catch {
            await socket.close()
            throw error
        }
    }

    private func session(
        of camera: String
    ) async throws(IoTError) -> (device: DeviceID, link: LinkConfiguration) {
        // Read anew: the box may have got another device since the start.
        let joined = hub == nil ? try JoinedBox.load(dataDirectory: dataDirectory) : nil
        if let joined, let device = joined.devices[camera] {
            // The session keeps the file fresh.
            let link = LinkConfiguration(
                principal: .device(device.id), token: .file(path: device.tokenFile), endpoint: joined.linkEndpoint)
            return (device.id, link)
        }
        guard let hub else {
            throw IoTError(
                .invalidConfiguration,
                "'\(camera)' is no device of the hub yet",
                remedy: "make an enrolment string for it there, with `iotctl token create --enrol --device "
                    + "\(camera)`, and give it to --join here")
        }
        let (device, token) = try await hub.ensureDevice(name: camera)
        let link = LinkConfiguration(principal: .device(device), token: .value(token), endpoint: hub.localEndpoint)
        return (device, link)
    }
}
