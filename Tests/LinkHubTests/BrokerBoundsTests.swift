import Foundation
import Glibc
import IoTCore
import IoTLink
import Testing
import ThingModel

@testable import LinkHub

@Suite("The broker's memory and connections, over a real broker", .timeLimit(.minutes(2)))
struct BrokerBoundsTests {
    /// A hand-made MQTT client that reads its socket only on request.
    private final class DeafClient {
        let descriptor: Int32

        init(socketPath: String) {
            descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socketPath.utf8) }
            let connected = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            #expect(connected == 0)
        }

        deinit { close(descriptor) }

        private static func field(_ bytes: some Sequence<UInt8>) -> [UInt8] {
            let bytes = Array(bytes)
            return [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes
        }

        private func write(_ kind: UInt8, _ content: [UInt8]) {
            var length: [UInt8] = []
            var rest = content.count
            repeat {
                length.append(UInt8(rest % 128) | (rest >= 128 ? 128 : 0))
                rest /= 128
            } while rest > 0
            let packet = [kind] + length + content
            #expect(send(descriptor, packet, packet.count, Int32(MSG_NOSIGNAL)) == packet.count)
        }

        private func read(_ count: Int) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: count)
            #expect(recv(descriptor, &bytes, count, Int32(MSG_WAITALL)) == count)
            return bytes
        }

        /// MQTT 3.1.1 §3.1, §3.8. Waits for both answers, and reads nothing after that.
        func join(_ address: LinkAddress, token: String, quality: UInt8) throws {
            let claims = try TokenClaims(parsing: token)
            write(
                0x10,
                Self.field("MQTT".utf8) + [4, 0xC2, 0, 60] + Self.field("x".utf8) + Self.field(claims.id.utf8)
                    + Self.field(token.utf8))
            #expect(read(4) == [0x20, 2, 0, 0])
            write(0x82, [0, 1] + Self.field(address.downTopic.utf8) + [quality])
            #expect(read(5)[4] == quality)
            write(
                0x30,
                Self.field(address.upTopic.utf8)
                    + Array(#"{"id":"b","method":"session.begin","params":{},"t":0,"deadline":1}"#.utf8))
        }
    }

    private func megabytes(_ hub: LinkHub) throws -> Int {
        let process = try #require(hub.brokerProcessIdentifier)
        return try #require(ProcessMemory.residentBytes(of: process)) >> 20
    }

    /// Runs a hub with a session that does not read, a camera that pushes 40 KB to it at each call of `push`, and the
    /// owner's session.
    private func withDeafSession(
        quality: UInt8, _ limits: BrokerLimits = BrokerLimits(),
        _ body: @Sendable (LinkHub, LinkSession, _ push: () async throws -> Void) async throws -> Void
    ) async throws {
        let directory = TemporaryDirectory()
        let hub = try LinkHub(
            HubConfiguration(dataDirectory: directory.path, brokerLimits: limits), logger: quietLogger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await hub.run() }
            try await hub.waitUntilReady()
            let (owner, ownerToken, device, deviceToken) = try await hub.ownerAndDevice()
            let mallory = try #require(AccessID(rawValue: "mallory"))
            try await hub.createUser(mallory)
            try await hub.bind(mallory, to: device, role: .guest)
            let token = try await hub.issueToken(.user(mallory), lifetime: .seconds(600))
            guard case .unixSocket(let path) = hub.endpoint else { throw IoTError(.internalFailure) }
            let deaf = DeafClient(socketPath: path)
            try deaf.join(.random(.user(mallory)), token: token, quality: quality)
            let data = try MessageData([UInt8](repeating: 7, count: 30_000)).json
            try await withSession(hub, .device(device), deviceToken) { camera in
                _ = try await camera.request("model.login", try ModelLogin.sample().json)
                try await withSession(hub, owner, ownerToken) { user in
                    try await body(hub, user) { _ = try await camera.request("message.push", ["data": data]) }
                }
            }
            withExtendedLifetime(deaf) {}
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test("A session that does not read holds about 10 MiB in the broker, and others still get everything")
    func deafSession() async throws {
        try await withDeafSession(quality: 1) { hub, user, push in
            let before = try megabytes(hub)
            var pushes = user.pushes().makeAsyncIterator()
            for _ in 0..<1_000 {
                try await push()
                while let push = await pushes.next(), push.method != MessageMethod.data.name {}
            }
            let grown = try megabytes(hub) - before
            #expect(grown < 25, "40 MB were sent to a session that does not read; the broker grew by \(grown) MB")
            #expect(user.current.status == .online && hub.brokerStarts == 1)
        }
    }

    @Test(
        "A broker that uses too much memory, such as for a QoS 0 session that does not read, is restarted; all return")
    func tooMuchMemory() async throws {
        var limits = BrokerLimits()
        limits.restartBytes = 32 << 20
        try await withDeafSession(quality: 0, limits) { hub, user, push in
            var count = 0
            while hub.brokerStarts == 1, count < 2_500 {
                try await push()
                count += 1
            }
            #expect(hub.brokerStarts == 2)
            _ = try await user.request("device.list")
            let grown = try megabytes(hub)
            #expect(grown < 32 && user.current.status == .online)
        }
    }

    @Test("Silent connections that fill the port block neither the hub nor principals at the socket")
    func silentConnections() async throws {
        let directory = TemporaryDirectory()
        var limits = BrokerLimits()
        limits.connections = 8
        let hub = try LinkHub(
            HubConfiguration(dataDirectory: directory.path, endpoint: .loopback(), brokerLimits: limits),
            logger: quietLogger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await hub.run() }
            try await hub.waitUntilReady()
            guard case .tcp(_, let port) = hub.endpoint else { throw IoTError(.internalFailure) }
            let silent = (0..<16).map { _ in silentConnection(port) }
            defer { for descriptor in silent { close(descriptor) } }
            // The hub reaches a restarted broker before the silent connections do.
            let (owner, ownerToken, _, _) = try await hub.ownerAndDevice()
            guard case .unixSocket(let path)? = (hub.broker as? MosquittoBroker)?.hubEndpoint else {
                throw IoTError(.internalFailure)
            }
            var configuration = LinkConfiguration(
                principal: owner, token: .value(ownerToken), endpoint: .unixSocket(path: path))
            configuration.renewsToken = false
            try await withSession(configuration) { user in
                _ = try await user.request("device.list")
            }
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private func silentConnection(_ port: Int) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(clamping: port).bigEndian
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return descriptor
    }
}
