import NIOCore

/// Parses a connection's bytes and passes the messages to the session.
final class RTSPStreamHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var parser = RTSPParser(limits: .client)
    private let driver: RTSPClientDriver
    private let generation: Int

    init(_ driver: RTSPClientDriver, _ generation: Int) {
        self.driver = driver
        self.generation = generation
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        parser.receive(unwrapInboundIn(data))
        do throws(RTSPParseError) {
            while let message = try parser.next() { driver.receive(message, generation) }
        } catch {
            driver.receive(error, generation)
            context.close(promise: nil)
            return
        }
        driver.readComplete(generation)
    }

    func channelInactive(context: ChannelHandlerContext) {
        driver.disconnected(nil, generation)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
