import IoTCore
import NIOCore
import NIOPosix
import NIOSSL
import RTP
import Synchronization

@testable import RTSP

/// A minimal server, for one client at a time.
final class ScriptedServer: Sendable {
    private let channel: any Channel

    /// - Parameters:
    ///   - tls: For `rtsps://`; `nil` for `rtsp://`.
    ///   - script: Called with each request.
    ///   - onFrame: Called with each interleaved frame.
    init(
        tls: NIOSSLContext? = nil, _ script: @escaping @Sendable (RTSPRequest, any Channel) -> Void,
        onFrame: @escaping @Sendable (InterleavedFrame) -> Void = { _ in }
    ) async throws {
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 1 << 20, high: 1 << 30))
            // Small, so that a server that does not read can be tested.
            .serverChannelOption(.socketOption(.so_rcvbuf), value: 16_384)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.addHandler(Handler(script, onFrame))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var port: Int { channel.localAddress?.port ?? 0 }

    func close() async throws { try await channel.close() }

    private static let interleaved = Mutex<Set<ObjectIdentifier>>([])

    static func isInterleaved(_ channel: any Channel) -> Bool {
        interleaved.withLock { $0.contains(ObjectIdentifier(channel)) }
    }

    static func answer(
        _ request: RTSPRequest, _ channel: any Channel, lines: [String] = ScriptedCamera.video
    ) {
        var response = RTSPResponse(.ok)
        response.headers.cseq = request.headers.cseq
        if request.method == .describe {
            response.body = ByteBuffer(string: (["v=0"] + lines).joined(separator: "\r\n"))
        }
        if request.method == .setup {
            var transport = request.headers.transports
            if transport.first?.lowerTransport == .tcp {
                interleaved.withLock { _ = $0.insert(ObjectIdentifier(channel)) }
            } else {
                transport[0].serverPorts = .init(9, 9)
            }
            response.headers.transports = transport
            response.headers.session = SessionHeader("12345678")
        }
        var bytes = ByteBuffer()
        response.write(into: &bytes)
        channel.writeAndFlush(bytes, promise: nil)
    }

    static func sendPictures(_ count: Int, _ channel: any Channel, size: Int = 3) {
        var bytes = ByteBuffer()
        for number in 0..<count {
            var packet = ScriptedCamera.picture(
                UInt16(truncatingIfNeeded: number), timestamp: UInt32(number) * 3_600, isKey: number == 0)
            packet.payload.writeRepeatingByte(0x55, count: size)
            var payload = ByteBuffer()
            packet.write(into: &payload)
            InterleavedFrame(channel: 0, payload: payload).write(into: &bytes)
        }
        channel.writeAndFlush(bytes, promise: nil)
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private var parser = RTSPParser(limits: .server)
        private let script: @Sendable (RTSPRequest, any Channel) -> Void

        private let onFrame: @Sendable (InterleavedFrame) -> Void

        init(
            _ script: @escaping @Sendable (RTSPRequest, any Channel) -> Void,
            _ onFrame: @escaping @Sendable (InterleavedFrame) -> Void
        ) {
            self.script = script
            self.onFrame = onFrame
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            parser.receive(unwrapInboundIn(data))
            while let message = try? parser.next() {
                switch message {
                case .request(let request): script(request, context.channel)
                case .frame(let frame): onFrame(frame)
                case .response: break
                }
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
