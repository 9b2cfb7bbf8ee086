import IoTCore
import Logging
import NIOCore
import NIOPosix
import PeerTransport
import Testing

/// Our peer on a socket of the loopback interface, controlled from a test's task.
final class ShellPeer: Sendable {
    let socket: PeerSocket
    private let events: AsyncStream<PeerEvent>
    /// The candidates found after the description; `first` discards them.
    let candidates: AsyncStream<String>
    private let peer: NIOLoopBound<Peer>

    /// - Parameter echoesFrames: Whether each received frame is sent back.
    init(echoesFrames: Bool = false, configure: (inout PeerConfiguration) -> Void) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let socket = try await PeerSocket.bind(
            to: SocketAddress(ipAddress: "127.0.0.1", port: 0), on: loop, logger: Logger(label: "interop"))
        self.socket = socket
        let (stream, continuation) = AsyncStream.makeStream(of: PeerEvent.self)
        events = stream
        let (candidates, candidate) = AsyncStream.makeStream(of: String.self)
        self.candidates = candidates
        var configuration = PeerConfiguration(hostAddresses: [], isControlling: true)
        configure(&configuration)
        let certificate = try PeerCertificate.generate()
        let settled = configuration
        peer = try await loop.submit {
            let echo = echoesFrames ? FrameEcho() : nil
            let peer = try socket.makePeer(configuration: settled, certificate: certificate) { event in
                echo?.take(event)
                continuation.yield(event)
                switch event {
                case .localCandidate(let text): candidate.yield(text)
                case .stateChanged(.failed), .stateChanged(.closed):
                    continuation.finish()
                    candidate.finish()
                default: break
                }
            }
            echo?.peer = peer
            return NIOLoopBound(peer, eventLoop: loop)
        }.get()
    }

    @discardableResult
    func run<Result: Sendable>(_ body: @escaping @Sendable (Peer) throws -> Result) async throws -> Result {
        try await socket.eventLoop.submit { try body(self.peer.value) }.get()
    }

    /// The first matching event; earlier events are discarded. Throws if the connection ends first.
    func first<Result>(_ what: String, _ pick: (PeerEvent) -> Result?) async throws -> Result {
        for await event in events {
            if let result = pick(event) { return result }
            if case .stateChanged(.failed(let error)) = event { throw error }
        }
        throw IoTError(.channelDisconnected, "the connection ended before \(what)")
    }

    func opened(_ label: String) async throws -> DataChannel {
        try await first("the channel \(label)") { event in
            if case .dataChannelOpened(let channel) = event, channel.label == label { channel } else { nil }
        }
    }

    /// Waits for these channels, which may open in any order.
    func opened(_ labels: Set<String>) async throws -> [String: DataChannel] {
        var channels: [String: DataChannel] = [:]
        while channels.count < labels.count {
            let channel = try await first("the channels \(labels)") { event in
                if case .dataChannelOpened(let channel) = event, labels.contains(channel.label) { channel } else { nil }
            }
            channels[channel.label] = channel
        }
        return channels
    }

    func message(on id: DataChannelID) async throws -> DataChannelMessage {
        try await first("a message") { event in
            if case .dataChannelMessage(id, let message) = event { message } else { nil }
        }
    }

    func closed(_ id: DataChannelID) async throws -> IoTError? {
        try await first("the channel's end") { event -> IoTError?? in
            if case .dataChannelClosed(id, let error) = event { .some(error) } else { nil }
        }
    }

    /// Sends when the buffer has room.
    func send(_ message: DataChannelMessage, on id: DataChannelID) async throws {
        while true {
            do {
                return try await run { try $0.send(message, on: id) }
            } catch let error as IoTError where error.code == .channelSendFailed {
                try await first("room") { event -> Void? in
                    if case .dataChannelBufferedAmountLow(id) = event { () } else { nil }
                }
            }
        }
    }
}
