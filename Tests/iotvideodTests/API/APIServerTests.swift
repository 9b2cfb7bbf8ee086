import Foundation
import IoTCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Testing

@testable import iotvideod

/// The real server on real sockets.
@Suite struct APIServerTests {
    /// Runs a server, and stops it behind the body.
    private func serve(
        _ gateway: ScriptedGateway = ScriptedGateway(grants: RouterFixture.grants), limits: APILimits = APILimits(),
        _ body: (_ socket: String, _ port: Int) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            var limits = limits
            limits.stopTimeout = .milliseconds(200)
            let loops = MultiThreadedEventLoopGroup.singleton
            let logger = Logger(label: "test")
            let socket = directory + "/s"
            let server = try APIServer(
                gateway: gateway,
                listeners: [.unixSocket(path: socket), .tcp(host: "127.0.0.1", port: 0, tls: nil)], audit: nil,
                metrics: MetricsRegistry(), limits: limits, eventLoopGroup: loops, logger: logger)
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(services: [.init(service: server)], logger: logger))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                try await server.waitUntilReady()
                let port = try #require(await server.boundPorts.first)
                try await body(socket, port)
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
            #expect(!FileManager.default.fileExists(atPath: socket))
        }
    }

    /// Sends the text, and gives all that comes until the other end closes.
    private func exchange(_ address: SocketAddress, _ text: String, end: Bool = true) async throws -> String {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
            .connect(to: address) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: text))
            var answer = ""
            do {
                for try await buffer in inbound { answer += String(buffer: buffer) }
            } catch is IOError {}
            return answer
        }
    }

    @Test("At the Unix socket the kernel says who asks; over TCP from this machine a token is needed")
    func whoAsks() async throws {
        let gateway = ScriptedGateway(grants: RouterFixture.grants)
        try await serve(gateway) { socket, port in
            let request = "GET /v1/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            let local = try await exchange(try SocketAddress(unixDomainSocketPath: socket), request + "\r\n")
            #expect(local.hasPrefix("HTTP/1.1 200"), "\(local)")
            let tcp = try SocketAddress(ipAddress: "127.0.0.1", port: port)
            #expect(try await exchange(tcp, request + "\r\n").hasPrefix("HTTP/1.1 401"))
            let bearer = "Authorization: Bearer \(RouterFixture.member)\r\n\r\n"
            #expect(try await exchange(tcp, request + bearer).hasPrefix("HTTP/1.1 200"))
            let snapshot = "GET /v1/channels/1/snapshot HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            #expect(try await exchange(tcp, snapshot + bearer).hasPrefix("HTTP/1.1 404"))
            let rebinding = "GET /v1/status HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n"
            #expect(try await exchange(tcp, rebinding + bearer).hasPrefix("HTTP/1.1 403"))
        }
        let callers = gateway.calls.map(\.caller)
        #expect(
            callers.map(\.credentials) == [
                .socket(user: getuid(), process: ProcessInfo.processInfo.processIdentifier),
                .token("2"), .token("2"),
            ])
        #expect(callers.map(\.isAdministrator) == [true, false, false])
    }

    @Test("A request that is never finished is cut off (slow loris), in its head and in its body")
    func slowLoris() async throws {
        var limits = APILimits()
        limits.idleTimeout = .milliseconds(300)
        limits.requestTimeout = .milliseconds(300)
        try await serve(limits: limits) { socket, _ in
            let address = try SocketAddress(unixDomainSocketPath: socket)
            // These return only because the server closes.
            #expect(try await exchange(address, "GET /v1/status HTTP/1.1\r\nHost: l") == "")
            let body = "POST /v1/users HTTP/1.1\r\nHost: l\r\nContent-Length: 100\r\n\r\n{"
            let answer = try await exchange(address, body)
            #expect(answer == "" || answer.hasPrefix("HTTP/1.1 504"), "\(answer)")
        }
    }

    @Test("A head that is too large is refused and the connection closed")
    func largeHead() async throws {
        try await serve { socket, _ in
            let field = "X-A: " + String(repeating: "a", count: 40_000) + "\r\n"
            let answer = try await exchange(
                try SocketAddress(unixDomainSocketPath: socket), "GET /v1/status HTTP/1.1\r\nHost: l\r\n\(field)\r\n")
            #expect(answer == "" || answer.hasPrefix("HTTP/1.1 4"), "\(answer.prefix(200))")
            #expect(!answer.contains("200 OK"))
        }
    }

    @Test("A connection serves one request behind the other")
    func keepAlive() async throws {
        try await serve { socket, _ in
            let first = "GET /healthz HTTP/1.1\r\nHost: l\r\n\r\n"
            let last = "GET /v1/status HTTP/1.1\r\nHost: l\r\nConnection: close\r\n\r\n"
            let answer = try await exchange(try SocketAddress(unixDomainSocketPath: socket), first + last)
            #expect(answer.components(separatedBy: "HTTP/1.1 200").count == 3)
        }
    }
}
