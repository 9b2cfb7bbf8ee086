import Foundation
import IoTCore
import IoTLink
import NIOCore
import Testing

@testable import LinkHub

@Suite("Messages that the hub refuses unread")
struct UnreadMessageTests {
    /// A request with parameters that no parser accepts.
    private func unreadable(id: String, size: Int = 0) -> [UInt8] {
        let padding = String(repeating: "x", count: size)
        return Array(
            #"{"id":"\#(id)","method":"device.list","params":{"\#(padding)":nonsense},"t":1,"deadline":2}"#.utf8)
    }

    @Test("Past its rate a principal's request gets 25024 unread; within it, it is read and refused with 25001")
    func unread() throws {
        var limits = HubLimits()
        limits.requestsPerSecond = 10
        var hub = try CoreFixture(limits: limits)
        #expect(hub.send(hub.owner, unreadable(id: "a")).map(\.replyCode) == [.invalidRequest])
        for _ in 0..<9 { _ = try hub.request(hub.owner, "session.heartbeat") }
        #expect(hub.send(hub.owner, unreadable(id: "b")).map(\.replyCode) == [.tooManyRequests])
        #expect(hub.core.statistics.refusedRequests == 1)
        #expect(try hub.send(hub.owner, .push(LinkPush(method: "session.end"))).isEmpty, "also unread")
        #expect(
            hub.send(hub.guest, unreadable(id: "c")).map(\.replyCode) == [.invalidRequest], "others are not affected")
    }

    @Test("A large message counts as several, so that bytes are limited with messages")
    func bytes() throws {
        var limits = HubLimits()
        limits.requestsPerSecond = 100
        var hub = try CoreFixture(limits: limits)
        var codes: [ErrorCode?] = []
        for number in 0..<4 {
            codes += hub.send(hub.owner, unreadable(id: "\(number)", size: 160_000)).map(\.replyCode)
        }
        #expect(codes == [.invalidRequest, .invalidRequest, .tooManyRequests, .tooManyRequests])
        hub.advance(.seconds(1))
        // More than one second's messages in one: it is read when all of them are available.
        #expect(hub.send(hub.owner, unreadable(id: "5", size: 261_000)).map(\.replyCode) == [.invalidRequest])
    }

    @Test("A name of 256 KB of combining marks is refused with 25001 as unreadable, and is not used as a key")
    func combiningMarks() throws {
        var hub = try CoreFixture()
        _ = try hub.request(hub.guest, "session.begin")
        let marks = String(repeating: "\u{301}\u{316}", count: 65_000)
        let message = Array(#"{"id":"a","method":"device.list","params":{"a\#(marks)":1},"t":1,"deadline":2}"#.utf8)
        #expect(message.count > 260_000 && message.count <= Envelope.maximumSize)
        let sent = hub.send(hub.guest, message)
        #expect(sent.map(\.replyCode) == [.invalidRequest])
        guard case .reply(let reply)? = sent.first?.envelope else { return }
        #expect(reply.message.contains("combining marks"))
    }
}
