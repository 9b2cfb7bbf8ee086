import IoTCore
import NIOCore
import NIOPosix
import NIOSSL

/// Gets a server's certificates. Nothing but the handshake is sent.
enum CertificateProbe {
    private static let timeout = TimeAmount.seconds(10)

    /// The chain that the server presents, its own certificate first. The chain is not verified.
    ///
    /// - Throws: the reason why the connection failed.
    static func chain(host: String, port: Int) async throws -> [[UInt8]] {
        let group = MultiThreadedEventLoopGroup.singleton
        let loop = group.any()
        let chain = loop.makePromise(of: [[UInt8]].self)
        let expiry = loop.scheduleTask(in: timeout) { chain.fail(ChannelError.connectTimeout(timeout)) }
        defer { expiry.cancel() }
        let bootstrap = ClientBootstrap(group: loop).connectTimeout(timeout).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let context = try NIOSSLContext(configuration: .makeClientConfiguration())
                // An address is not a name for SNI (RFC 6066 §3).
                let isAddress = (try? SocketAddress(ipAddress: host, port: port)) != nil
                let handler = try NIOSSLClientHandler(
                    context: context, serverHostname: isAddress ? nil : host,
                    customVerificationCallback: { certificates, verified in
                        chain.completeWith(Result { try certificates.map { try $0.toDERBytes() } })
                        // Ends the handshake: this connection only reads the certificates.
                        verified.succeed(.failed)
                    })
                try channel.pipeline.syncOperations.addHandlers(handler, HandshakeEnd(chain: chain))
            }
        }
        let connection = bootstrap.connect(host: host, port: port)
        connection.cascadeFailure(to: chain)
        chain.futureResult.whenComplete { _ in connection.whenSuccess { $0.close(promise: nil) } }
        return try await withTaskCancellationHandler {
            try await chain.futureResult.get()
        } onCancel: {
            chain.fail(CancellationError())
        }
    }
}

/// Reports a handshake that ended before the certificates arrived.
private final class HandshakeEnd: ChannelInboundHandler {
    typealias InboundIn = Never

    private let chain: EventLoopPromise<[[UInt8]]>

    init(chain: EventLoopPromise<[[UInt8]]>) {
        self.chain = chain
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        chain.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        chain.fail(ChannelError.eof)
    }
}
