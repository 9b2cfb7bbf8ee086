import Gateway
import GatewayAPI
import IoTCore
import IoTLink
import LinkHub
import Logging
import MediaChannel
import NIOCore
import NetConfig
import PeerTransport
import ThingModel

/// Creates a camera of the configuration as a device of the local hub, or of the hub that this box has joined.
struct CameraFactory: Sendable {
    let hub: LinkHub?
    let dataDirectory: String
    /// Each camera takes a free UDP port on this address.
    let host: String
    let certificates: PeerCertificatePool
    let photos: PhotoStore
    let recordings: RecordingService?
    /// Of the box.
    let upgrade: (any CameraUpgrade)?
    /// `nil` for a box where nothing is upgraded over the hub.
    let firmware: FirmwareSupply?
    /// `nil` if the cameras are not reached without the hub.
    let lan: LANEntrance?
    let iceServers: ICEServers
    let loops: any EventLoopGroup
    let log: LogOutput

    /// - Parameter settings: the settings for opening the camera.
    func make(_ settings: CameraSettings) async throws -> RunningCamera {
        let label = "camera.\(settings.name)"
        let logger = Logger(label: label)
        // A camera that was added is still a camera if the directory has left the configuration.
        do {
            try checkRecording(of: settings)
        } catch {
            logger.warning("the camera is not recorded: \(error.messageWithRemedy)")
        }
        var session = try await session(of: settings.name)
        let device = session.device
        session.link.onOwnership = { [recordings] in recordings?.tellOwner($0, of: device) }
        let files = try CameraFiles(dataDirectory: dataDirectory, camera: settings.name)
        let key = try files.key()
        let link: any DeviceLink =
            if let lan {
                lan.makeLink(session.link, of: device, key: key, settings, file: files.lanTrust, logger: logger)
            } else {
                LinkSession(configuration: session.link, logger: logger)
            }
        let password = LANPasswordFile(path: files.lanPassword)
        link.handle(DeviceMethod.handleLANPassword) { order, _ async throws(IoTError) in
            do throws(IoTError) {
                return LANPasswordAnswer(
                    try await password.handle(password: order.password, newPassword: order.newPassword))
            } catch {
                if let reason = error.underlying {
                    logger.warning("the LAN access password could not be stored: \(reason)")
                }
                throw error
            }
        }
        let socket = try await PeerSocket.bind(ListenAddress(host: host, port: 0), on: loops.next(), logger: logger)
        do {
            let recording = settings.record == .none ? nil : recordings
            let recorder = try recording?.recorder(of: session.device, settings)
            try recordings?.limit(session.device, settings)
            // What was recorded earlier is played, too.
            let recorded = try recordings?.recordings(of: session.device, settings)
            let firmware = firmware?.camera(settings, loops: loops, logger: logger)
            let camera = try Camera(
                settings: settings, softwareVersion: ProductVersion.number, iceServers: iceServers,
                device: session.device, key: key,
                loudspeaker: Self.loudspeaker(of: settings, eventLoop: socket.eventLoop, logger: logger), link: link,
                socket: socket, certificates: certificates, photos: photos,
                recorder: recorder, recordings: recorded,
                detectors: ONVIFCameraEvents(settings, loops: loops, logger: logger),
                upgrade: settings.firmware == .camera ? firmware : upgrade,
                lan: lan?.place, logger: logger
            ) { [log] in log.setLevel($0, of: label) }
            return RunningCamera(camera: camera, socket: socket, firmware: firmware)
        } catch {
            await socket.close()
            throw error
        }
    }

    /// - Throws: 21039 if the camera is to be recorded, but this box records nothing.
    func checkRecording(of settings: CameraSettings) throws(IoTError) {
        if settings.record != .none, recordings == nil { throw RecordingAccess.missing }
    }

    private func session(
        of camera: String
    ) async throws(IoTError) -> (device: DeviceID, link: LinkConfiguration) {
        // Re-read, because the box may have got another device after the start.
        let joined = hub == nil ? try JoinedBox.load(dataDirectory: dataDirectory) : nil
        if let joined, let device = joined.devices[camera] {
            // The session renews the token in the file.
            let link = LinkConfiguration(
                principal: .device(device.id), token: .file(path: device.tokenFile), endpoint: joined.linkEndpoint)
            return (device.id, link)
        }
        guard let hub else {
            throw IoTError(
                .invalidConfiguration,
                "'\(camera)' is not a device of the hub yet",
                remedy: "create an enrolment string on the hub with `iotctl token create --enrol --device "
                    + "\(camera)`, and pass it to --join here")
        }
        let (device, token) = try await hub.ensureDevice(name: camera)
        let link = LinkConfiguration(principal: .device(device), token: .value(token), endpoint: hub.localEndpoint)
        return (device, link)
    }
}
