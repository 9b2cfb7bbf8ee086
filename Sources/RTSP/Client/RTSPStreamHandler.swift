import NIOCore

/// The event that continues parsing after a pause of reading.
struct ReadingResumed: Sendable {}

/// Parses a connection's bytes and passes the messages to the session.
final class RTSPStreamHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var parser = RTSPParser(limits: .client)
    private let driver: RTSPClientDriver
    private let generation: Int
    private let onError: (any Error) -> Void

    init(_ driver: RTSPClientDriver, _ generation: Int, onError: @escaping (any Error) -> Void) {
        self.driver = driver
        self.generation = generation
        self.onError = onError
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        parser.receive(unwrapInboundIn(data))
        parse(context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is ReadingResumed else { return context.fireUserInboundEventTriggered(event) }
        parse(context)
    }

    /// Stops when the frames' reader takes no more, because one read can have thousands of frames.
    private func parse(_ context: ChannelHandlerContext) {
        do throws(RTSPParseError) {
            while driver.isReading, let message = try parser.next() { driver.receive(message, generation) }
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
        onError(error)
        context.close(promise: nil)
    }
}
