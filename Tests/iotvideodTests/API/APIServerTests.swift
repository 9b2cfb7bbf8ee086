import Foundation
import IoTCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Testing

@testable import Gateway
@testable import iotvideod

/// The real server with real sockets.
@Suite struct APIServerTests {
    /// Runs a server and stops it after the body.
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
                configuration: ServiceGroupConfiguration(
                    services: [.init(service: ServedGateway(gateway: gateway, server: server))],
                    logger: logger))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                try await server.waitUntilReady()
                let port = try #require(await server.boundPorts.first)
                try await body(socket, port)
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
            #expect(!FileManager.default.fileExists(atPath: socket))
            #expect(gateway.isStopped, "the gateway must end what the server waits for")
        }
    }

    private func connect(_ address: SocketAddress) async throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
            .connect(to: address) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
    }

    /// Sends the text and returns everything received until the other end closes.
    private func exchange(_ address: SocketAddress, _ text: String) async throws -> String {
        try await exchange(try await connect(address), text)
    }

    private func exchange(_ channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>, _ text: String) async throws -> String {
        try await channel.executeThenClose { inbound, outbound in
            if !text.isEmpty { try await outbound.write(ByteBuffer(string: text)) }
            var answer = ""
            do {
                for try await buffer in inbound { answer += String(buffer: buffer) }
            } catch is IOError {}
            return answer
        }
    }

    @Test("On the Unix socket the kernel identifies the caller; TCP needs a token, even from this machine")
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

    @Test("A request that is never completed is cut off (slow loris), in its head or in its body")
    func slowLoris() async throws {
        var limits = APILimits()
        limits.idleTimeout = .milliseconds(300)
        limits.requestTimeout = .milliseconds(300)
        try await serve(limits: limits) { socket, _ in
            let address = try SocketAddress(unixDomainSocketPath: socket)
            // These calls return only because the server closes the connection.
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

    // MARK: Expired and revoked rights

    /// Opens a stream, revokes its right after the first bytes, and returns everything that was sent.
    private func follow(
        _ port: Int, _ path: String, _ end: @Sendable () -> Void
    ) async throws -> (text: String, time: Duration) {
        let channel = try await connect(try SocketAddress(ipAddress: "127.0.0.1", port: port))
        return try await channel.executeThenClose { inbound, outbound in
            let head =
                "GET \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(RouterFixture.member)\r\n\r\n"
            try await outbound.write(ByteBuffer(string: head))
            var text = ""
            var ended: ContinuousClock.Instant?
            do {
                for try await buffer in inbound {
                    text += String(buffer: buffer)
                    if ended == nil, text.contains("picture") || text.contains(": open") {
                        end()
                        ended = .now
                    }
                }
            } catch is IOError {}
            return (text, ended?.duration(to: .now) ?? .zero)
        }
    }

    @Test("An event stream ends within two seconds of its token's revocation, and contains the reason")
    func revokedEvents() async throws {
        let gateway = ScriptedGateway(grants: RouterFixture.grants)
        try await serve(gateway) { _, port in
            let (text, time) = try await follow(port, "/v1/events?device=silent") {
                gateway.revoke(RouterFixture.member)
            }
            #expect(
                text.hasPrefix("HTTP/1.1 200") && text.contains("event: error") && text.contains("25004"), "\(text)")
            #expect(time < .seconds(4), "2 s, plus 2 s for a busy machine")
        }
        #expect(gateway.leases.count == 0)
    }

    @Test(
        "Recordings and raw media are cut off within two seconds of the token's revocation",
        arguments: ["recording.mp4", "video.y4m", "audio.wav", "dump?part=receivedVideo"])
    func revokedMedia(name: String) async throws {
        let gateway = ScriptedGateway(grants: RouterFixture.grants)
        try await serve(gateway) { _, port in
            let (text, time) = try await follow(port, "/v1/channels/endless/\(name)") {
                gateway.revoke(RouterFixture.member)
            }
            #expect(text.contains("picture") && !text.hasSuffix("0\r\n\r\n"), "an incomplete body has no end")
            #expect(time < .seconds(4))
        }
        #expect(gateway.leases.count == 0)
        #expect(gateway.quotas.table[.requests]?.used == 0)
    }

    @Test("A trailer contains the number of frames that a slow reader lost")
    func lostFrames() async throws {
        try await serve(ScriptedGateway(grants: RouterFixture.grants)) { socket, _ in
            let request = "GET /v1/channels/short/video.y4m HTTP/1.1\r\nHost: localhost\r\n\r\n"
            let text = try await exchange(try SocketAddress(unixDomainSocketPath: socket), request).lowercased()
            #expect(text.contains("\r\ntrailer: iotvideo-frames-dropped\r\n"), "\(text)")
            #expect(text.hasSuffix("7\r\npicture\r\n0\r\niotvideo-frames-dropped: 3\r\n\r\n"), "\(text)")
        }
    }

    @Test("A recording ends with its account's binding to the device")
    func lostBinding() async throws {
        let gateway = ScriptedGateway(grants: RouterFixture.grants)
        try await serve(gateway) { _, port in
            let (text, time) = try await follow(port, "/v1/channels/endless/recording.mp4") {
                gateway.lose(RouterFixture.device)
            }
            #expect(text.contains("picture"))
            #expect(time < .seconds(4))
        }
    }

    @Test("A stream ends when its token expires")
    func expiredStream() async throws {
        var grants = RouterFixture.grants
        grants[RouterFixture.member]?.expires = WallClock.milliseconds() / 1000 + 2
        let gateway = ScriptedGateway(grants: grants)
        try await serve(gateway) { _, port in
            let (text, time) = try await follow(port, "/v1/events?device=silent") {}
            #expect(text.contains("25004"))
            #expect(time < .seconds(5))
        }
    }

    // MARK: Clients that disconnect

    @Test(
        "A client that disconnects cancels its request, and the server continues", .timeLimit(.minutes(1)),
        arguments: [
            "POST /v1/discoveries HTTP/1.1\r\nHost: l\r\nContent-Length: 29\r\n\r\n{\"timeoutMilliseconds\":29999}",
            "GET /v1/channels/endless/snapshot HTTP/1.1\r\nHost: l\r\n\r\n",
            // The body is not needed, and is incomplete.
            "GET /v1/channels/endless/snapshot HTTP/1.1\r\nHost: l\r\nContent-Length: 10\r\n\r\n{",
        ])
    func disconnect(request: String) async throws {
        let (calls, source) = AsyncStream.makeStream(of: String.self)
        let gateway = ScriptedGateway(grants: RouterFixture.grants) { name in
            source.yield(name)
            return nil
        }
        try await serve(gateway) { socket, _ in
            let address = try SocketAddress(unixDomainSocketPath: socket)
            var names = calls.makeAsyncIterator()
            let channel = try await connect(address)
            try await channel.executeThenClose { _, outbound in
                try await outbound.write(ByteBuffer(string: request))
                _ = await names.next()
            }
            #expect(await names.next() == "cancelled")
            let status = "GET /v1/status HTTP/1.1\r\nHost: l\r\nConnection: close\r\n\r\n"
            #expect(try await exchange(address, status).hasPrefix("HTTP/1.1 200"))
        }
    }

    // MARK: Shares of resources

    @Test("An account with many streams gets 429 and Retry-After; other accounts are not affected")
    func streamsOfOneAccount() async throws {
        let gateway = ScriptedGateway(grants: RouterFixture.grants)
        gateway.quotas.set(QuotaBound(total: 8, each: 3, reserve: 2), of: .requests)
        try await serve(gateway) { socket, port in
            let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
            func request(_ path: String, _ token: String) -> String {
                "GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer \(token)\r\n\r\n"
            }
            let stream = request("/v1/events?device=silent", RouterFixture.member)
            try await withThrowingTaskGroup(of: Void.self) { group in
                let (begun, starts) = AsyncStream.makeStream(of: Void.self)
                for _ in 0..<3 {
                    group.addTask {
                        let channel = try await connect(address)
                        try await channel.executeThenClose { inbound, outbound in
                            try await outbound.write(ByteBuffer(string: stream))
                            var chunks = inbound.makeAsyncIterator()
                            _ = try await chunks.next()
                            starts.yield()
                            while try await chunks.next() != nil {}
                        }
                    }
                }
                var iterator = begun.makeAsyncIterator()
                for _ in 0..<3 { await iterator.next() }
                let refused = try await exchange(address, stream)
                #expect(refused.hasPrefix("HTTP/1.1 429") && refused.contains("25024"), "\(refused)")
                #expect(refused.lowercased().contains("retry-after: 1"))
                let owner = request("/v1/status", RouterFixture.administrator)
                #expect(try await exchange(address, owner).hasPrefix("HTTP/1.1 200"))
                let local = request("/v1/status", "")
                #expect(
                    try await exchange(try SocketAddress(unixDomainSocketPath: socket), local).hasPrefix("HTTP/1.1 200")
                )
                group.cancelAll()
                while let result = await group.nextResult() { _ = result }
            }
        }
    }

    @Test("Too many silent connections do not block other clients, and a deadline closes them")
    func silentConnections() async throws {
        var limits = APILimits()
        limits.connections = QuotaBound(total: 32, each: 16)
        limits.firstRequestTimeout = .milliseconds(500)
        try await serve(limits: limits) { socket, port in
            let tcp = try SocketAddress(ipAddress: "127.0.0.1", port: port)
            let unix = try SocketAddress(unixDomainSocketPath: socket)
            try await withThrowingTaskGroup(of: String.self) { group in
                let (opened, openings) = AsyncStream.makeStream(of: Void.self)
                for address in [tcp, unix] {
                    for _ in 0..<100 {
                        group.addTask {
                            let channel = try await connect(address)
                            openings.yield()
                            return try await exchange(channel, "")
                        }
                    }
                }
                var iterator = opened.makeAsyncIterator()
                for _ in 0..<200 { await iterator.next() }
                let request = "GET /v1/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                let bearer = "Authorization: Bearer \(RouterFixture.member)\r\n\r\n"
                for _ in 0..<20 {
                    #expect(try await exchange(tcp, request + bearer).hasPrefix("HTTP/1.1 200"))
                    #expect(try await exchange(unix, request + "\r\n").hasPrefix("HTTP/1.1 200"))
                }
                // These calls return only because the server closes the connections.
                for try await answer in group { #expect(answer == "") }
            }
        }
    }

    // MARK: Heads

    @Test(
        "Invalid heads get 400 and the connection is closed",
        arguments: [
            "Host: a\r\nHost: b", "Host: a\r\nHost: a", "X: y", "Host: a\r\nTransfer-Encoding: xchunked",
            "Host: a\r\nTransfer-Encoding: gzip, chunked", "Host: a\u{301}", "Host: a\r\nOrigin: \u{301}",
            "Host: a\r\nConnection: \u{301}", "Host: a\r\nX-Whatever: \u{301}",
        ])
    func badHeads(fields: String) async throws {
        try await serve { socket, port in
            let unix = try SocketAddress(unixDomainSocketPath: socket)
            for address in [try SocketAddress(ipAddress: "127.0.0.1", port: port), unix] {
                // A client of the Unix socket may omit the host.
                if address == unix, fields == "X: y" { continue }
                for method in ["GET /v1/status", "POST /v1/users"] {
                    let answer = try await exchange(address, "\(method) HTTP/1.1\r\n\(fields)\r\n\r\n")
                    #expect(answer.hasPrefix("HTTP/1.1 400"), "\(answer)")
                    #expect(!answer.contains("HTTP/1.1 200"))
                }
            }
            let nameless = "GET /v1/status HTTP/1.1\r\nConnection: close\r\n\r\n"
            #expect(try await exchange(unix, nameless).hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test("A body with malformed chunks is 400")
    func damagedChunks() async throws {
        try await serve { socket, _ in
            let answer = try await exchange(
                try SocketAddress(unixDomainSocketPath: socket),
                "POST /v1/users HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 400"), "\(answer)")
        }
    }

    @Test("The worst allowed head takes no longer than others: 14 KB of combining marks in their worst order")
    func worstHead() async throws {
        try await serve { _, port in
            let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
            func time(_ host: String) async throws -> Duration {
                let started = ContinuousClock.now
                for _ in 0..<20 {
                    let answer = try await exchange(
                        address,
                        "GET /v1/status HTTP/1.1\r\nHost: \(host)\r\nOrigin: \(host)\r\nConnection: close\r\n\r\n")
                    #expect(answer.hasPrefix("HTTP/1.1 4"))
                }
                return started.duration(to: .now)
            }
            let plain = try await time(String(repeating: "a", count: 14_000))
            // Marks with descending combining classes take the longest to sort.
            let marks = String(String.UnicodeScalarView((0..<7000).map { $0 < 3500 ? "\u{301}" : "\u{316}" }))
            #expect(try await time(marks) < plain * 3 + .milliseconds(200))
        }
    }

    @Test("A connection serves one request after the other")
    func keepAlive() async throws {
        try await serve { socket, _ in
            let first = "GET /healthz HTTP/1.1\r\nHost: l\r\n\r\n"
            let last = "GET /v1/status HTTP/1.1\r\nHost: l\r\nConnection: close\r\n\r\n"
            let answer = try await exchange(try SocketAddress(unixDomainSocketPath: socket), first + last)
            #expect(answer.components(separatedBy: "HTTP/1.1 200").count == 3)
        }
    }
}
