import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Bounds what one connection may send: a body that goes on far behind its limit, and a request that never ends.
///
/// `@unchecked Sendable` is not needed: it lives on its channel's event loop.
final class RequestGuard: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    /// A refused body is read on this far, so that the client can read the refusal.
    private static let bodyLimit = 4 * APIRequest.maximumBodySize

    private let timeout: TimeAmount
    private var size = 0
    private var deadline: Scheduled<Void>?

    init(timeout: TimeAmount) {
        self.timeout = timeout
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            size = 0
            let channel = context.channel
            deadline = context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
        case .body(let bytes):
            size += bytes.readableBytes
            if size > Self.bodyLimit {
                context.close(promise: nil)
                return
            }
        case .end: stop()
        }
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stop()
    }

    private func stop() {
        deadline?.cancel()
        deadline = nil
    }
}
