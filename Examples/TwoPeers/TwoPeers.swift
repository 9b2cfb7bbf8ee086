import Logging
import NIOCore
import NIOPosix
import PeerTransport

/// Two peers on this machine open a data channel, exchange greetings and close: `swift run two-peers`.
/// `docs/peer-transport.md` explains it.
@main
enum TwoPeers {
    static func main() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 0)
        let logger = Logger(label: "two-peers")
        let (caller, callee) = (
            try await PeerSocket.bind(to: address, on: group.next(), logger: logger),
            try await PeerSocket.bind(to: address, on: group.next(), logger: logger)
        )
        let certificate = try PeerCertificate.generate()
        let (said, voice) = AsyncStream.makeStream(of: String.self)

        // A peer is confined to its socket's event loop; so is all code that uses it.
        try await group.next().submit {
            var offering: Peer?
            offering = try caller.makePeer(
                configuration: configuration(isControlling: true), certificate: certificate
            ) { event in
                switch event {
                case .dataChannelOpened(let channel): try? offering?.send(.text("hello"), on: channel.id)
                case .dataChannelMessage(_, .text(let text)):
                    voice.yield("the caller heard: \(text)")
                    voice.finish()
                case .stateChanged(.closed): offering = nil
                default: break
                }
            }
            var answering: Peer?
            answering = try callee.makePeer(
                configuration: configuration(isControlling: false), certificate: certificate
            ) { event in
                switch event {
                case .dataChannelOpened(let channel): voice.yield("the callee has channel '\(channel.label)'")
                case .dataChannelMessage(let channel, .text(let text)):
                    voice.yield("the callee heard: \(text)")
                    try? answering?.send(.text("\(text) yourself"), on: channel)
                case .stateChanged(.closed): answering = nil
                default: break
                }
            }
            try offering?.openDataChannel(label: "greetings")
            // Real peers send each other the descriptions' text, over any connection.
            let offer = try offering?.createOffer().text ?? ""
            let answer = try answering?.createAnswer(to: SessionDescription(parsing: offer)).text ?? ""
            try offering?.setAnswer(SessionDescription(parsing: answer))
        }.get()

        for await line in said { print(line) }
        await caller.close()
        await callee.close()
        try await group.shutdownGracefully()
    }

    private static func configuration(isControlling: Bool) -> PeerConfiguration {
        // No addresses: makePeer adds the socket's own.
        var configuration = PeerConfiguration(hostAddresses: [], isControlling: isControlling)
        configuration.dataChannels = DataChannelConfiguration()
        return configuration
    }
}
