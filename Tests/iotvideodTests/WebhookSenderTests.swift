import Gateway
import GatewayAPI
import IoTCore
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import Testing

@testable import iotvideod

@Suite(.timeLimit(.minutes(1))) struct WebhookSenderTests {
    /// A receiver on this machine, which answers with one status, or not at all.
    private final class Receiver: Sendable {
        let channel: any Channel
        private let taken = Requests()

        init(status: HTTPResponseStatus?) async throws {
            let loops = MultiThreadedEventLoopGroup.singleton
            channel = try await ServerBootstrap(group: loops).childChannelInitializer { [taken] channel in
                channel.pipeline.configureHTTPServerPipeline().flatMapThrowing {
                    try channel.pipeline.syncOperations.addHandler(Handler(status, taken))
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        }

        var list: [(uri: String, body: String)] { taken.list.withLock { $0 } }
        var port: Int { channel.localAddress?.port ?? 0 }
    }

    private final class Requests: Sendable {
        let list = Mutex<[(uri: String, body: String)]>([])
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let status: HTTPResponseStatus?
        private let requests: Requests
        private var uri = ""
        private var body = ""

        init(_ status: HTTPResponseStatus?, _ requests: Requests) {
            self.status = status
            self.requests = requests
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): uri = "\(head.method) \(head.uri) \(head.headers["Host"].first ?? "")"
            case .body(let part): body += String(buffer: part)
            case .end:
                requests.list.withLock { $0.append((uri, body)) }
                guard let status else { return }
                let head = HTTPResponseHead(
                    version: .http1_1, status: status,
                    headers: ["Content-Length": "0", "Location": "http://127.0.0.1:1/"])
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }

    private let notice = OfflineNotice(.offline, device: "d", name: "front", account: "bob", t: 7)

    /// - Returns: what the receiver got, and why the notice failed.
    private func send(
        _ status: HTTPResponseStatus?, timeout: TimeAmount = .seconds(10)
    ) async throws -> (requests: [(uri: String, body: String)], failure: NoticeFailure?) {
        let receiver = try await Receiver(status: status)
        let port = receiver.port
        let sender = WebhookSender(loops: MultiThreadedEventLoopGroup.singleton, timeout: timeout) { url, _, _ in
            [try SocketAddress(ipAddress: "127.0.0.1", port: url.portOrDefault)]
        }
        let url = try #require(ServiceURL("http://receiver.example:\(port)/a?key=b"))
        var failure: NoticeFailure?
        do throws(NoticeFailure) {
            try await sender.send(notice, to: url, allowsPrivate: false)
        } catch {
            failure = error
        }
        try await receiver.channel.close()
        return (receiver.list, failure)
    }

    @Test("A notice is one POST with JSON; every status of 2xx is a success", arguments: [200, 204])
    func success(status: Int) async throws {
        let (requests, failure) = try await send(HTTPResponseStatus(statusCode: status))
        #expect(failure == nil && requests.count == 1)
        #expect(requests.first?.uri.hasPrefix("POST /a?key=b receiver.example:") == true)
        let body = Array((requests.first?.body ?? "").utf8)
        #expect(
            try JSONValue(parsing: body)
                == ["event": "offline", "device": "d", "name": "front", "account": "bob", "t": 7])
    }

    @Test(
        "Other statuses fail; a redirection is not followed; another attempt is made if it may help",
        arguments: [(302, true), (404, true), (410, true), (408, false), (429, false), (500, false), (503, false)])
    func statuses(status: Int, isFinal: Bool) async throws {
        let (requests, failure) = try await send(HTTPResponseStatus(statusCode: status))
        #expect(requests.count == 1)
        #expect(failure?.isFinal == isFinal && failure?.error.message.contains("\(status)") == true)
    }

    @Test("A receiver that does not answer costs no more than the time limit")
    func silence() async throws {
        let (requests, failure) = try await send(nil, timeout: .milliseconds(200))
        #expect(requests.count == 1 && failure?.isFinal == false)
    }

    @Test(
        "This machine is never contacted, not even for an administrator",
        arguments: ["127.0.0.1", "[::1]", "localhost"])
    func machine(host: String) async throws {
        let receiver = try await Receiver(status: .ok)
        let url = try #require(ServiceURL("http://\(host):\(receiver.port)/"))
        let failure = await #expect(throws: NoticeFailure.self) {
            try await WebhookSender(loops: MultiThreadedEventLoopGroup.singleton).send(
                notice, to: url, allowsPrivate: true)
        }
        #expect(failure?.error.code == .forbidden && failure?.isFinal == true)
        #expect(receiver.list.isEmpty)
        try await receiver.channel.close()
    }
}
