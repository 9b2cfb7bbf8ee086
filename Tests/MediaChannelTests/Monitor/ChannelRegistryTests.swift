import IoTCore
import IoTLink
import Logging
import NIOCore
import NIOPosix
import PeerTransport
import Synchronization
import Testing

@testable import MediaChannel

@Suite(.timeLimit(.minutes(1))) struct ChannelRegistryTests {
    private final class Count: Sendable {
        let value = Mutex(0)
    }

    @Test("Each device, kind, source and account has its own channel")
    func channels() async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        // The link registers but never runs, so requests wait and get no answer.
        let silent = LinkSession(
            configuration: LinkConfiguration(
                principal: .user(AccessID(rawValue: "owner")!), token: .value(""),
                endpoint: .unixSocket(path: "/nonexistent")), logger: logger)
        silent.register()
        let socket = try await PeerSocket.bind(
            to: try SocketAddress(ipAddress: "127.0.0.1", port: 0),
            on: MultiThreadedEventLoopGroup.singleton.next(), logger: logger)
        let registry = ChannelRegistry(
            calls: CallClient(link: silent), socket: socket, certificates: try PeerCertificatePool(),
            iceServers: .none, usesServersOfDevices: false, logger: logger)
        let (front, back) = (DeviceID.random(), DeviceID.random())
        let guest = Principal("u/guest")
        let channels: [(DeviceID, ChannelKind, UInt8, Principal?)] = [
            (front, .monitor, 0, nil), (front, .live, 0, nil), (front, .monitor, 1, nil), (front, .monitor, 0, guest),
            (back, .monitor, 0, nil),
        ]
        let taken = Count()
        await withTaskGroup(of: Void.self) { group in
            for (device, kind, source, account) in channels {
                group.addTask {
                    _ = try? await registry.open(
                        device: device, deviceName: "x", kind: kind, source: .camera(source), as: account
                    ) { taken.value.withLock { $0 += 1 } }
                }
            }
            while await registry.count < channels.count, !Task.isCancelled { await Task.yield() }
            #expect(taken.value.withLock { $0 } == channels.count)
            group.cancelAll()
        }
        #expect(await registry.count == 0)
        await socket.close()
    }
}
