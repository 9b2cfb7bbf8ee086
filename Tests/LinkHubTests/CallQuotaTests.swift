import IoTCore
import IoTLink
import NIOCore
import Testing
import ThingModel

@testable import LinkHub

@Suite("How many calls and requests may be open")
struct CallQuotaTests {
    private func online(_ change: (inout HubLimits) -> Void) throws -> CoreFixture {
        var limits = HubLimits()
        change(&limits)
        var hub = try CoreFixture(limits: limits, ownAccount: AccessID(rawValue: "owner"))
        try hub.bringEverybodyOnline()
        return hub
    }

    /// Calls the camera, which accepts.
    private func call(_ hub: inout CoreFixture, _ user: LinkAddress, _ session: String) throws -> ErrorCode? {
        let ask: JSONValue = ["device": "front", "kind": "monitor", "actions": ["view"]]
        let token = try #require(try hub.request(user, "call.token", ask)?.result["token"])
        let sent = try hub.sendRequest(
            user, "call.connect",
            ["device": "front", "kind": "monitor", "source": 0, "session": .string(session), "token": token])
        guard let forwarded = sent.first(where: { $0.address == hub.camera })?.request else {
            return sent.first?.replyCode
        }
        let answer = try hub.send(hub.camera, .reply(LinkReply(id: forwarded.id, result: [:])))
        return answer.first?.replyCode
    }

    @Test("Past a limit of an account, of a device or in total, a call is refused with 25024, and none is forgotten")
    func calls() throws {
        let cases: [(WritableKeyPath<HubLimits, Int>, Int)] = [
            (\.callsOfAccount, 3), (\.callsOfDevice, 3), (\.calls, 3 + HubLimits().callsReserved),
        ]
        for (limit, value) in cases {
            var hub = try online { $0[keyPath: limit] = value }
            for session in ["a", "b", "c"] { #expect(try call(&hub, hub.guest, session) == .success) }
            #expect(try call(&hub, hub.guest, "d") == .tooManyRequests)
            let sessions = Set(hub.core.state.calls.of(hub.front).map(\.key.session))
            #expect(sessions == ["a", "b", "c"])
            #expect(!hub.stored.contains { if case .removeCall = $0 { true } else { false } })
            if limit != \.callsOfDevice {
                #expect(try call(&hub, hub.owner, "e") == .success, "the owner's room is left")
            }
            // A call that ends makes room.
            let end: JSONValue = ["peer": .string("d/\(hub.front)"), "session": "a"]
            _ = try hub.sendRequest(hub.guest, "call.end", end)
            #expect(try call(&hub, hub.guest, "f") == (limit == \.calls ? .tooManyRequests : .success))
        }
    }

    @Test("A device that registers again has left its calls: the user is notified, and they no longer count")
    func deviceStartsAnew() throws {
        var hub = try online { _ in }
        #expect(try call(&hub, hub.guest, "a") == .success)
        let again = LinkAddress.random(.device(hub.front))
        let sent = try hub.sendRequest(again, "session.begin")
        let ends = sent.filter { $0.request?.method == "call.end" }
        #expect(Set(ends.map(\.address)) == [hub.guest, again])
        #expect(ends.allSatisfy { $0.request?.params["code"] == .integer(Int64(ErrorCode.peerTimeout.rawValue)) })
        for end in ends { _ = try hub.send(end.address, .reply(LinkReply(id: end.request?.id ?? "", result: [:]))) }
        #expect(hub.core.state.calls.count == 0)
        // The same session keeps its calls when it returns.
        var other = try online { _ in }
        #expect(try call(&other, other.guest, "a") == .success)
        _ = try other.sendRequest(other.camera, "session.begin")
        #expect(other.core.state.calls.of(other.front).filter { $0.ending.isEmpty }.count == 1)
    }

    // MARK: Requests to devices that do not answer

    private func take(_ hub: inout CoreFixture, _ user: LinkAddress) throws -> ErrorCode? {
        try hub.request(
            user, "action.take", ["device": "front", "path": "Action.cameraOn", "value": ["ctlVal": 0]])?.code
    }

    @Test(
        "A device that does not answer uses up one account's requests, and blocks neither others nor its owner"
    )
    func forwards() throws {
        let cases: [(WritableKeyPath<HubLimits, Int>, Int)] = [
            (\.forwardsOfPair, 3), (\.forwardsOfSender, 3), (\.forwardsToTarget, 3),
            (\.pendingForwards, 3 + HubLimits().forwardsReserved),
        ]
        for (limit, value) in cases {
            var hub = try online { $0[keyPath: limit] = value }
            let time = hub.time
            let front = hub.front
            let guest = hub.guest
            try hub.core.bind(guest.principal.accessID!, front, .guest, [.view, .control], at: time)
            for _ in 0..<3 { #expect(try take(&hub, guest) == nil, "it waits for its answer") }
            #expect(try take(&hub, guest) == .tooManyRequests)
            for _ in 0..<3 { #expect(try take(&hub, hub.owner) == nil, "the owner of the device and of the daemon") }
            #expect(hub.core.forwards.count == 6)
            // When they end there is room again.
            hub.advance(.seconds(61))
            _ = hub.timeout()
            for address in [guest, hub.owner, hub.camera] { _ = try hub.request(address, "session.begin") }
            #expect(hub.core.forwards.count == 0)
            #expect(hub.core.forwards.count(of: guest.principal) == 0)
            #expect(hub.core.forwards.count(to: hub.camera.principal) == 0)
            _ = try hub.request(hub.camera, "model.login", try ModelLogin.sample().json)
            #expect(try take(&hub, guest) == nil)
        }
    }
}
