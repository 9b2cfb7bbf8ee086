import IoTCore
import IoTLink
import NIOCore
import Testing

@testable import LinkHub

@Suite("LAN access passwords in the hub's core")
struct LANPasswordTests {
    private let params: JSONValue = ["device": "front", "password": "old secret", "newPassword": "new secret"]

    private func forwarded(_ hub: inout CoreFixture, id: String = "p") throws -> LinkRequest {
        try hub.forwarded("device.lanPassword", params, id: id)
    }

    @Test("Only the device gets the passwords, and the hub stores nothing")
    func passedOn() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let before = hub.stored.count
        let request = try forwarded(&hub)
        #expect(request.method == "device.lanPassword" && request.from == hub.owner.principal)
        #expect(request.params == ["password": "old secret", "newPassword": "new secret"])
        let answer = try hub.send(hub.camera, .reply(LinkReply(id: request.id, result: ["outcome": "changed"])))
        #expect(answer.replies(to: hub.owner).map(\.result) == [["outcome": "changed"]])
        #expect(answer.allSatisfy { $0.address == hub.owner })
        #expect(hub.stored.count == before)
    }

    @Test("20001 if the device does not answer, 8000 if it is offline, otherwise the device's own error")
    func failures() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let request = try forwarded(&hub)
        let error = IoTError(.lanPasswordWrong)
        let refused = try hub.send(hub.camera, .reply(LinkReply(id: request.id, outcome: .failure(error))))
        #expect(refused.replies(to: hub.owner).map(\.code) == [.lanPasswordWrong])
        _ = try forwarded(&hub, id: "q")
        hub.advance(.seconds(61))
        #expect(hub.timeout().replies(to: hub.owner).map(\.code).contains(.peerTimeout))
        var other = try CoreFixture()
        try other.bringEverybodyOnline()
        _ = try other.send(other.camera, .push(LinkPush(method: "session.end")))
        #expect(try other.request(other.owner, "device.lanPassword", params)?.code == .deviceOffline)
    }

    @Test("A user who loses the right `configure` during the request gets 20014, not the answer")
    func withdrawn() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let bind: JSONValue = ["device": "front", "user": "guest", "actions": ["view", "configure"]]
        #expect(try hub.request(hub.owner, "device.bind", bind)?.code == .success)
        #expect(try hub.request(hub.guest, "device.lanPassword", params) == nil, "the request waits for the device")
        let sent = try hub.sendRequest(hub.owner, "device.bind", ["device": "front", "user": "guest"])
        #expect(sent.replies(to: hub.guest).map(\.code) == [.relationChanged])
    }
}
