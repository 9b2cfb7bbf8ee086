import IoTCore
import NIOCore
import NIOTLS

/// Says when the TLS handshake of a connection has ended.
final class HandshakeWatch: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let secured: Readiness<Void>

    init(_ secured: Readiness<Void>) {
        self.secured = secured
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent { secured.settle(.success(())) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        secured.settle(.failure(error))
        context.fireErrorCaught(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        secured.settle(.failure(ChannelError.eof))
        context.fireChannelInactive()
    }
}
