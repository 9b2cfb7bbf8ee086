import HTTPTypes
import IoTCore
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import iotvideod

/// Clients that accept no data of their responses, and streams that are answered, in virtual time.
@Suite struct RequestGuardTests {
    private func connection(_ method: HTTPRequest.Method = .get, _ path: String = "/") throws -> EmbeddedChannel {
        let limits = APILimits()
        let channel = EmbeddedChannel(
            handler: RequestGuard(
                limits: limits, connections: Connections(limits.connections), logger: Logger(label: "test")))
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/test")).wait()
        let head = HTTPRequest(method: method, scheme: "http", authority: "h", path: path)
        try channel.writeInbound(HTTPRequestPart.head(head))
        if method == .get { try channel.writeInbound(HTTPRequestPart.end(nil)) }
        return channel
    }

    /// - Returns: the fields of the response's head.
    private func answer(_ channel: EmbeddedChannel) throws -> HTTPFields? {
        try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .conflict)))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
        guard case .head(let head) = try channel.readOutbound(as: HTTPResponsePart.self) else { return nil }
        return head.headerFields
    }

    private func set(_ channel: EmbeddedChannel, writable: Bool) {
        channel.isWritable = writable
        channel.pipeline.fireChannelWritabilityChanged()
    }

    @Test("A response ends if the client accepts no data for a minute")
    func stalled() throws {
        let channel = try connection()
        set(channel, writable: false)
        channel.embeddedEventLoop.advanceTime(by: .seconds(59))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("A client that accepts some data every minute may take any time for a response")
    func slow() throws {
        let channel = try connection()
        for _ in 0..<10 {
            set(channel, writable: false)
            channel.embeddedEventLoop.advanceTime(by: .seconds(59))
            set(channel, writable: true)
            channel.embeddedEventLoop.advanceTime(by: .seconds(300))
        }
        #expect(channel.isActive)
    }

    @Test("The connection of a stream ends with its response, also if the whole stream came before it")
    func stream() throws {
        let complete = try connection(.post, "/v1/channels/a/talk")
        try complete.writeInbound(HTTPRequestPart.body(ByteBuffer(repeating: 0, count: 200_000)))
        try complete.writeInbound(HTTPRequestPart.end(nil))
        #expect(try answer(complete)?[.connection] == "close")
        #expect(!complete.isActive)

        // The client must read the response before the connection ends.
        let early = try connection(.post, "/v1/channels/a/talk")
        #expect(try answer(early)?[.connection] == "close")
        #expect(early.isActive)
        early.embeddedEventLoop.advanceTime(by: TimeAmount(APILimits().requestTimeout))
        #expect(!early.isActive)
    }

    @Test("The connection of another request is used again")
    func keptAlive() throws {
        let channel = try connection()
        let fields = try answer(channel)
        #expect(fields != nil && fields?[.connection] == nil)
        #expect(channel.isActive)
    }
}
