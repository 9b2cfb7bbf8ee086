import NIOCore
import NIOPosix
import Synchronization

/// A server that answers each request with a script's text. It records the methods of each connection.
final class ScriptedRTSPCamera: Sendable {
    private struct Record {
        var connections: [[String]] = []
        var open = 0
        var overlaps = 0
    }

    private final class Log: Sendable {
        let record = Mutex(Record())
    }

    private let channel: any Channel
    private let log = Log()

    init(_ answer: @escaping @Sendable (String) -> String) throws {
        // One loop for all connections: their events are in order.
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        channel = try ServerBootstrap(group: eventLoop)
            .childChannelInitializer { [log] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(log, answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()
    }

    var port: Int { channel.localAddress?.port ?? 0 }

    /// The methods of the requests of each connection.
    var connections: [[String]] { log.record.withLock { $0.connections } }

    /// How often a connection was made while an earlier one was open.
    var overlaps: Int { log.record.withLock { $0.overlaps } }

    func close() throws { try channel.close().wait() }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let log: Log
        private let answer: @Sendable (String) -> String
        private var received = ""
        private var index = 0

        init(_ log: Log, _ answer: @escaping @Sendable (String) -> String) {
            self.log = log
            self.answer = answer
        }

        func channelActive(context: ChannelHandlerContext) {
            index = log.record.withLock { record in
                record.connections.append([])
                record.overlaps += record.open > 0 ? 1 : 0
                record.open += 1
                return record.connections.count - 1
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            log.record.withLock { $0.open -= 1 }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            received += String(buffer: unwrapInboundIn(data))
            guard received.hasSuffix("\r\n\r\n") else { return }
            let method = received.prefix { $0 != " " }
            log.record.withLock { $0.connections[index].append(String(method)) }
            let text = answer(received)
            received = ""
            context.writeAndFlush(NIOAny(ByteBuffer(string: text)), promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
