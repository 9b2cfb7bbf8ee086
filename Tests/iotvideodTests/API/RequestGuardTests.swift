import HTTPTypes
import IoTCore
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import iotvideod

/// A client that accepts no data of its response, in virtual time.
@Suite struct RequestGuardTests {
    private func connection() throws -> EmbeddedChannel {
        let limits = APILimits()
        let channel = EmbeddedChannel(
            handler: RequestGuard(
                limits: limits, connections: Connections(limits.connections), logger: Logger(label: "test")))
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/test")).wait()
        let head = HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/")
        try channel.writeInbound(HTTPRequestPart.head(head))
        try channel.writeInbound(HTTPRequestPart.end(nil))
        return channel
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
}
