import IoTCore
import Logging
import NIOCore
import NIOPosix
import Testing

@testable import PeerTransport

/// Links and name resolution over real sockets. Tests with coturn and other namespaces are in Tests/InteropTests.
@Suite struct PeerNetworkTests {
    /// Whether a peer's objects still exist.
    final class Traces {
        weak var peer: Peer?
        weak var network: PeerNetwork?
        var held: Peer?

        var areGone: Bool { peer == nil && network == nil }
    }

    @Test(
        "A peer that is closed during a name resolution leaves no link, socket or object",
        .timeLimit(.minutes(1)))
    func releases() async throws {
        try await PeerSocketTests.withSockets(["127.0.0.1"]) { sockets in
            let socket = sockets[0]
            let certificate = try PeerCertificate.generate()
            // Nothing listens there.
            let server = try ICEServer(
                urls: ["turn:127.0.0.1:9?transport=tcp"], username: "user", credential: "secret")
            for _ in 1...20 {
                let (errors, continuation) = AsyncStream.makeStream(of: Int.self)
                let traces = try await socket.eventLoop.submit {
                    let traces = Traces()
                    var configuration = PeerConfiguration(
                        hostAddresses: [], isControlling: true, sections: PeerSocketTests.sections)
                    configuration.ice.servers = [server]
                    let peer = try socket.makePeer(configuration: configuration, certificate: certificate) { event in
                        if case .candidateError(_, let code, _) = event { continuation.yield(code) }
                    }
                    traces.held = peer
                    traces.peer = peer
                    _ = try peer.createOffer()
                    return NIOLoopBound(traces, eventLoop: socket.eventLoop)
                }.get()
                var iterator = errors.makeAsyncIterator()
                #expect(await iterator.next() == TURNFailure.noAnswerCode)
                try await socket.eventLoop.submit {
                    let traces = traces.value
                    traces.network = traces.held?.network
                    #expect(traces.network != nil)
                    traces.held?.perform(.resolve("1f0e.local"))
                    traces.held?.close()
                    traces.held = nil
                }.get()
                // Remaining work of the loop ends within a few ticks.
                var turns = 0
                while try await !socket.eventLoop.submit({ traces.value.areGone }).get(), turns < 100_000 { turns += 1 }
                let areGone = try await socket.eventLoop.submit { traces.value.areGone }.get()
                #expect(areGone)
            }
        }
    }

    @Test("TLS to a server with another protocol ends the link with a reason", .timeLimit(.minutes(1)))
    func foreignServer() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let server = try await ServerBootstrap(group: loop)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Chatter())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let address = try #require(server.localAddress)
        let (events, continuation) = AsyncStream.makeStream(of: String.self)
        let network = try await loop.submit {
            let network = PeerNetwork(eventLoop: loop, authorities: nil) { outcome in
                switch outcome {
                case .linkOpened(let id): continuation.yield("opened \(id)")
                case .linkReceived(let id, let bytes): continuation.yield("received \(id) \(bytes.readableBytes)")
                case .linkClosed(let id, let reason): continuation.yield("closed \(id) \(reason)")
                case .resolved: break
                }
            }
            for (id, transport) in [(1, RelayEndpoint.Transport.tls), (2, .tcp)] {
                network.perform(
                    .open(
                        link: id, RelayEndpoint(transport: transport, address: address, serverName: "127.0.0.1")))
            }
            return NIOLoopBound(network, eventLoop: loop)
        }.get()
        var seen: Set<String> = []
        for await event in events {
            seen.insert(event)
            if seen.count == 3 { break }
        }
        #expect(seen == ["closed 1 the TURN server closed the connection", "opened 2", "received 2 5"])
        try await loop.submit { network.value.close() }.get()
        try await server.close()
    }

    /// Sends five bytes to every client.
    private final class Chatter: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        func channelActive(context: ChannelHandlerContext) {
            context.writeAndFlush(NIOAny(ByteBuffer(string: "hello")), promise: nil)
        }
    }
}
