import Glibc
import NIOCore
import NIOPosix

/// wpa_supplicant through its control socket: Unix datagrams, with a socket of ours for the answers.
public struct SupplicantApplier: WiFiApplier {
    private let socket: String
    private let directory: String

    /// - Parameters:
    ///   - socket: The interface's socket, for example `/run/wpa_supplicant/wlan0`.
    ///   - directory: The directory of our socket during a request. wpa_supplicant must be able to write to it.
    public init(socket: String, directory: String = "/tmp") {
        self.socket = socket
        self.directory = directory
    }

    public func scan() async -> [WiFiNetwork] {
        guard case .networks(let networks)? = try? await run(.scan) else { return [] }
        return networks
    }

    public func apply(_ credentials: WiFiCredentials) async -> WiFiOutcome {
        guard case .joined(let outcome)? = try? await run(.join(credentials)) else {
            return .failed("wpa_supplicant's socket \(socket) cannot be used")
        }
        return outcome
    }

    private func run(_ goal: SupplicantSession.Goal) async throws -> SupplicantSession.Output {
        let path = "\(directory)/iotvideod-wifi-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        defer { unlink(path) }
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let result = loop.makePromise(of: SupplicantSession.Output.self)
        let remote = try SocketAddress(unixDomainSocketPath: socket)
        let bound = DatagramBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        SupplicantHandler(goal, remote: remote, result: result))
                }
            }
            .bind(unixDomainSocketPath: path)
        bound.cascadeFailure(to: result)
        result.futureResult.whenComplete { _ in bound.whenSuccess { $0.close(promise: nil) } }
        return try await withTaskCancellationHandler {
            try await result.futureResult.get()
        } onCancel: {
            loop.execute { result.fail(CancellationError()) }
        }
    }
}

/// Drives a `SupplicantSession` on its channel's event loop.
private final class SupplicantHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>

    private let goal: SupplicantSession.Goal
    private let remote: SocketAddress
    private let result: EventLoopPromise<SupplicantSession.Output>
    private var session: SupplicantSession?
    private var timer: Scheduled<Void>?

    init(
        _ goal: SupplicantSession.Goal, remote: SocketAddress, result: EventLoopPromise<SupplicantSession.Output>
    ) {
        self.goal = goal
        self.remote = remote
        self.result = result
    }

    func channelActive(context: ChannelHandlerContext) {
        session = SupplicantSession(goal, at: .now())
        pump(context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        session?.receive(String(buffer: unwrapInboundIn(data).data), at: .now())
        pump(context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        result.fail(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        result.fail(ChannelError.eof)
    }

    private func pump(_ context: ChannelHandlerContext) {
        while let output = session?.poll() {
            switch output {
            case .send(let command):
                let datagram = AddressedEnvelope(remoteAddress: remote, data: ByteBuffer(string: command))
                // The socket has no listener, or we may not write to it.
                context.writeAndFlush(wrapOutboundOut(datagram)).cascadeFailure(to: result)
            case .timeout(let due):
                timer?.cancel()
                timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: due) { [self] in
                    session?.timeout(at: .now())
                    pump(context)
                }
            case .networks, .joined:
                result.succeed(output)
            }
        }
    }
}
