import NIOCore
import NIOHTTP1

/// Refuses heads that nothing behind it should read: with bytes that are not ASCII, which `String` compares by canonical
/// equivalence, at a cost of the square of a run of combining marks; with no or several hosts; or with a body of another
/// coding. The connection gets 400 and ends, as after what is not HTTP at all.
final class HeadGuard: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// False at a Unix socket, where `iotctl` and other clients name none.
    private let needsHost: Bool
    private var hasRefused = false

    init(needsHost: Bool) {
        self.needsHost = needsHost
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasRefused else { return }
        if case .head(let head) = unwrapInboundIn(data), let error = refusal(of: head) {
            hasRefused = true
            context.fireErrorCaught(error)
            return
        }
        context.fireChannelRead(data)
    }

    private func refusal(of head: HTTPRequestHead) -> HTTPParserError? {
        guard head.uri.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return .invalidURL }
        var hosts = 0
        for (name, value) in head.headers {
            // RFC 9110 §5.5: newer fields are ASCII, and what the API reads is.
            guard value.utf8.allSatisfy({ $0 < 0x80 }) else { return .invalidHeaderToken }
            switch ASCII.lowercased(name) {
            case "host": hosts += 1
            // RFC 9112 §6.1: `chunked` is all that we understand.
            case "transfer-encoding":
                guard ASCII.lowercased(value) == "chunked" else { return .invalidHeaderToken }
            case nil: return .invalidHeaderToken
            default: break
            }
        }
        // RFC 9112 §3.2.
        guard hosts == 1 || hosts == 0 && (!needsHost || head.version.minor == 0) else { return .invalidHeaderToken }
        return nil
    }
}
