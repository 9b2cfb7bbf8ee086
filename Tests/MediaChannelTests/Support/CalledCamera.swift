import Foundation
import IoTCore
import IoTLink
import Logging
import MediaPlayer
import NIOCore
import NIOPosix
import PeerTransport

@testable import MediaChannel

/// A camera with a file as its source, and gateways that call it through the test's hub. Media go through real sockets.
struct CalledCamera {
    let hub: HubInBetween
    let stream: NIOLoopBoundBox<CameraStream>
    private let source: CameraSource
    private let sockets: [PeerSocket]
    private let calls: CameraCalls
    private let notices: Task<Void, Never>

    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// - Parameter callers: as the camera's key `callers`.
    init(key: DeviceKey?, callers: CallerKeys = .all, recordings: CameraRecordings? = nil) async throws {
        let hub = HubInBetween(device: .random())
        let socket = try await Self.socket()
        let loop = socket.eventLoop
        let clip = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Samples/street-h264-aac.mp4").standardizedFileURL.path
        let stream = NIOLoopBoundBox.makeBoxSendingValue(
            CameraStream(eventLoop: loop, maximumViewers: 8, logger: Self.logger) {}, eventLoop: loop)
        let handOff = SourceHandOff(loop) { stream.value.main.handle($0) }
        source = CameraSource(
            CameraSettings(name: "front", url: clip), eventLoop: loop, onEvent: handOff.take)
        calls = CameraCalls(
            stream: stream, device: hub.device, key: key, takesLive: true, callers: callers,
            link: try hub.link(of: .device(hub.device)),
            peers: ViewerPeers(socket: socket, certificates: try PeerCertificatePool()), iceServers: .none,
            recordings: recordings)
        calls.attach()
        source.start()
        notices = Task { [calls] in await calls.run() }
        self.hub = hub
        self.stream = stream
        sockets = [socket]
    }

    static func socket() async throws -> PeerSocket {
        try await PeerSocket.bind(
            to: try SocketAddress(ipAddress: "127.0.0.1", port: 0), on: MultiThreadedEventLoopGroup.singleton.next(),
            logger: logger)
    }

    /// The client of a gateway with this account.
    func gateway(
        _ account: String = "owner", key: DeviceKey? = nil, trust: any DeviceTrust = NoDeviceTrust()
    ) throws -> CallClient {
        CallClient(link: try hub.link(of: .user(AccessID(rawValue: account)!)), key: key, trust: trust)
    }

    /// Opens a channel and waits for its first picture.
    ///
    /// - Returns: how the gateway knows the camera's key.
    func watch(_ calls: CallClient, _ kind: ChannelKind = .monitor) async throws -> KeySource? {
        let socket = try await Self.socket()
        let registry = ChannelRegistry(
            calls: calls, socket: socket, certificates: try PeerCertificatePool(), iceServers: .none,
            usesServersOfDevices: false, logger: Self.logger)
        let outcome: Result<KeySource?, any Error>
        do {
            let use = try await registry.open(
                device: hub.device, deviceName: "front", kind: kind, source: .main, actions: [.view, .talk]
            ) { 0 }
            try await use.play()
            let picture = try await use.channel.snapshot(.jpeg)
            let source = await use.describe().keySource
            outcome = picture.bytes.readableBytes > 0 ? .success(source) : .failure(IoTError(.internalFailure))
        } catch {
            outcome = .failure(error)
        }
        await registry.closeAll()
        await socket.close()
        return try outcome.get()
    }

    /// Calls with an offer, as for a browser.
    func answer(to offer: String, _ calls: CallClient, _ kind: ChannelKind = .monitor) async throws -> KeySource? {
        let relayed = RelayedCalls(calls: calls)
        let answer = try await relayed.open(
            RelayedCalls.makeID(), device: hub.device, kind: kind, source: .main, actions: [.view, .talk], offer: offer,
            as: nil, right: 0)
        await relayed.closeAll()
        return answer.keySource
    }

    /// Opens a channel, and closes it after the body.
    func withChannel<Value: Sendable>(
        _ kind: ChannelKind, actions: [CallAction], _ body: (ChannelRegistry.Use) async throws -> Value
    ) async throws -> Value {
        let socket = try await Self.socket()
        let registry = ChannelRegistry(
            calls: try gateway(), socket: socket, certificates: try PeerCertificatePool(), iceServers: .none,
            usesServersOfDevices: false, logger: Self.logger)
        let outcome: Result<Value, any Error>
        do {
            let use = try await registry.open(device: hub.device, kind: kind, actions: actions)
            outcome = .success(try await body(use))
        } catch {
            outcome = .failure(error)
        }
        await registry.closeAll()
        await socket.close()
        return try outcome.get()
    }

    var viewers: Int {
        get async throws { try await stream.eventLoop.submit { [stream] in stream.value.viewers.count }.get() }
    }

    func close() async {
        source.stop()
        notices.cancel()
        _ = try? await stream.eventLoop.flatSubmit { [stream] in stream.value.close() }.get()
        for socket in sockets { await socket.close() }
    }
}
