import NIOCore
import NIOHTTP1

/// Refuses invalid heads before other handlers read them: heads with bytes that are not ASCII, because `String`
/// compares these by canonical equivalence, in time quadratic in a run of combining marks; heads without a host or with
/// several; and bodies with an unsupported coding. The client gets status 400 and the connection is closed, as for
/// input that is not HTTP.
final class HeadGuard: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// False on a Unix socket, where `iotctl` and other clients send no host.
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
            // Newer fields are ASCII (RFC 9110 §5.5), and so are all fields that the API reads.
            guard value.utf8.allSatisfy({ $0 < 0x80 }) else { return .invalidHeaderToken }
            switch ASCII.lowercased(name) {
            case "host": hosts += 1
            // `chunked` is the only supported coding (RFC 9112 §6.1).
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
