import Foundation
import IoTCore
import IoTLink
import NIOCore
import Testing
import ThingModel

@testable import LinkHub

@Suite("Pass-through in the hub's core")
struct HubCoreMessageTests {
    private func message(_ responses: String, _ data: [UInt8] = Array("hi".utf8)) -> JSONValue {
        [
            "device": "front", "data": .string(Data(data).base64EncodedString()), "responses": .string(responses),
            "timeoutMilliseconds": 2_000,
        ]
    }

    /// Sends a message and returns what reached the device.
    private func forwarded(_ hub: inout CoreFixture, _ params: JSONValue, id: String = "m") throws -> LinkRequest {
        try hub.forwarded("message.send", params, id: id)
    }

    @Test("The device gets the data and who sent it; its one response comes back, and again for a repeat")
    func one() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let request = try forwarded(&hub, message("one"))
        #expect(request.method == "message.receive")
        #expect(request.from == hub.owner.principal)
        #expect(request.params == ["data": "aGk=", "responses": "one"])
        let answer = try hub.send(hub.camera, .reply(LinkReply(id: request.id, result: ["data": "eW8=", "x": 1])))
        let reply = answer.replies(to: hub.owner)
        #expect(reply.map(\.result) == [["data": "eW8="]])
        let again = try hub.sendRequest(hub.owner, "message.send", message("one"), id: "m")
        #expect(again.replies(to: hub.owner) == reply)
        #expect(!again.contains { $0.address == hub.camera }, "the device gets it once")
    }

    @Test("Acknowledged only: the device's answer without its content")
    func none() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let request = try forwarded(&hub, message("none"))
        let answer = try hub.send(hub.camera, .reply(LinkReply(id: request.id, result: ["data": "eW8="])))
        #expect(answer.replies(to: hub.owner).map(\.result) == [[:]])
    }

    @Test("Many responses arrive in order; a repeat from a new connection gets all of them, also after the end")
    func many() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let request = try forwarded(&hub, message("many"))
        func part(_ place: Int) -> Envelope {
            .reply(LinkReply(id: request.id, result: ["data": "eW8="], seq: place, final: false))
        }
        var first: [LinkReply] = []
        for place in 0..<3 { first += try hub.send(hub.camera, part(place)).replies(to: hub.owner) }
        #expect(first.map(\.seq) == [0, 1, 2])
        #expect(first.allSatisfy { !$0.final && $0.id == "m" })
        #expect(
            try hub.sendRequest(hub.owner, "message.send", message("many"), id: "m").replies(to: hub.owner) == first)
        let end = try hub.send(hub.camera, .reply(LinkReply(id: request.id, seq: 3, final: true)))
        let last = end.replies(to: hub.owner)
        #expect(last.map(\.seq) == [3])
        #expect(last.first?.final == true)
        let repeated = try hub.sendRequest(hub.owner, "message.send", message("many"), id: "m")
        #expect(repeated.replies(to: hub.owner) == first + last)
        #expect(try hub.send(hub.camera, part(4)).replies(to: hub.owner).isEmpty, "it has ended")
    }

    @Test("Who asked says that it wants no more: the device learns it, and only the one who asked can say it")
    func finished() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let request = try forwarded(&hub, message("many"))
        let finish = Envelope.push(SessionMethod.finish.push(FinishedRequest(id: "m")))
        #expect(try hub.send(hub.guest, finish).isEmpty)
        let sent = try hub.send(hub.owner, finish)
        let told = sent.filter { $0.address == hub.camera }.compactMap(\.push)
        let notice = try #require(told.first.flatMap { SessionMethod.finish.parameters(of: $0) })
        #expect(notice.id == request.id && notice.from == hub.owner.principal)
        #expect(sent.replies(to: hub.owner).map(\.final) == [true])
        let late = try hub.send(hub.camera, .reply(LinkReply(id: request.id, result: ["data": "eW8="], seq: 0)))
        #expect(late.replies(to: hub.owner).isEmpty)
        #expect(try hub.send(hub.owner, finish).isEmpty, "once")
        // One response, or none, always comes.
        _ = try forwarded(&hub, message("one"), id: "n")
        #expect(try hub.send(hub.owner, .push(SessionMethod.finish.push(FinishedRequest(id: "n")))).isEmpty)
    }

    @Test("Responses that are too large to keep are passed on; a repeat then shows that some are missing")
    func manyLarge() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let request = try forwarded(&hub, message("many"))
        let data = JSONValue.string(Data(repeating: 1, count: 30_000).base64EncodedString())
        for place in 0..<20 {
            let part = LinkReply(id: request.id, result: ["data": data], seq: place, final: false)
            #expect(try hub.send(hub.camera, .reply(part)).replies(to: hub.owner).count == 1)
        }
        _ = try hub.send(hub.camera, .reply(LinkReply(id: request.id, seq: 20)))
        let repeated = try hub.sendRequest(hub.owner, "message.send", message("many"), id: "m").replies(to: hub.owner)
        #expect(repeated.map(\.seq) == [20])
    }

    @Test("20001 if the device does not answer in time, 8000 if it is offline or goes offline")
    func noAnswer() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        _ = try forwarded(&hub, message("one"))
        hub.advance(.seconds(3))
        #expect(hub.timeout().replies(to: hub.owner).map(\.code) == [.peerTimeout])
        _ = try forwarded(&hub, message("one"), id: "n")
        let gone = try hub.send(hub.camera, .push(LinkPush(method: "session.end")))
        #expect(gone.replies(to: hub.owner).map(\.code) == [.deviceOffline])
        var waking = message("one")
        waking["wake"] = true
        #expect(try hub.request(hub.owner, "message.send", waking)?.code == .deviceOffline)
    }

    @Test("The same request gets the same id at the device; a different request under that id gets another")
    func forwardedID() throws {
        var first = try CoreFixture()
        try first.bringEverybodyOnline()
        var again = try CoreFixture()
        try again.bringEverybodyOnline()
        var other = try CoreFixture()
        try other.bringEverybodyOnline()
        let id = try forwarded(&first, message("one"), id: "m").id
        #expect(try forwarded(&again, message("one"), id: "m").id == id)
        #expect(try forwarded(&other, message("one", [1]), id: "m").id != id)
    }

    @Test("While the device is asked, the request's id is valid for a repeat and for nothing else")
    func reusedID() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        let asked = try forwarded(&hub, message("one"), id: "m")
        let other = try hub.sendRequest(hub.owner, "message.send", message("one", [1]), id: "m")
        #expect(other.replies(to: hub.owner).map(\.code) == [.requestIDReused])
        var patient = message("one")
        patient["timeoutMilliseconds"] = 60_000
        #expect(try hub.sendRequest(hub.owner, "message.send", patient, id: "m").isEmpty, "only the time-out differs")
        let answer = LinkReply(id: asked.id, result: ["data": "aGk="])
        #expect(try hub.send(hub.camera, .reply(answer)).replies(to: hub.owner).map(\.code) == [.success])
    }

    @Test(
        "A device's answer keeps its code; a missing handler and a response without data are 21006",
        arguments: [
            (LinkReply(id: "", code: .invalidRequest), ErrorCode.devicePassThroughFailed),
            (LinkReply(id: "", code: .userCommandType), .userCommandType),
            (LinkReply(id: "", result: ["data": "!"]), .devicePassThroughFailed),
            (LinkReply(id: "", result: [:]), .devicePassThroughFailed),
            (
                LinkReply(id: "", result: ["data": .string(Data(repeating: 0, count: 30_001).base64EncodedString())]),
                .devicePassThroughFailed
            ),
        ])
    func deviceCodes(reply: LinkReply, code: ErrorCode) throws {
        for responses in ["one", "many"] {
            var hub = try CoreFixture()
            try hub.bringEverybodyOnline()
            var reply = reply
            reply.id = try forwarded(&hub, message(responses)).id
            #expect(try hub.send(hub.camera, .reply(reply)).replies(to: hub.owner).map(\.code) == [code])
        }
    }

    @Test("30,000 bytes pass, one more is 21008, before base64; both ways and to the hub itself")
    func bounds() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        _ = try forwarded(&hub, message("one", Array(repeating: 0xFF, count: 30_000)))
        for count in [30_001, 30_003, 150_000] {
            let long = message("one", Array(repeating: 0xFF, count: count))
            #expect(try hub.request(hub.owner, "message.send", long)?.code == .messageTooLong)
            let pushed = try hub.request(hub.camera, "message.push", ["data": long["data"] ?? .null])
            #expect(pushed?.code == .messageTooLong)
            let asked = try hub.request(
                hub.owner, "server.request", ["path": "GET/time", "data": long["data"] ?? .null])
            #expect(asked?.code == .messageTooLong)
        }
        for data: JSONValue in ["?", 5, .null, "aGk"] {
            var wrong = message("one")
            wrong["data"] = data
            #expect(try hub.request(hub.owner, "message.send", wrong)?.code == .invalidRequest, "\(data)")
        }
        #expect(try hub.request(hub.owner, "message.send", message("some"))?.code == .invalidRequest)
    }

    @Test("Sending needs control; a device's pushes reach those who may view it")
    func rights() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        #expect(try hub.request(hub.guest, "message.send", message("one"))?.code == .relationInvalid)
        #expect(try hub.request(hub.stranger, "message.send", message("one"))?.code == .targetNotFound)
        let pushed = try hub.sendRequest(hub.camera, "message.push", ["data": "aGk="])
        let heard = pushed.filter { $0.pushMethod == "device.data" }
        #expect(Set(heard.map(\.address)) == [hub.owner, hub.guest])
        guard case .push(let push)? = heard.first?.envelope else { throw IoTError(.internalFailure) }
        #expect(push.params == ["device": .string(hub.front.rawValue), "data": "aGk="])
        #expect(MessageMethod.data.parameters(of: push)?.data == Array("hi".utf8))
        #expect(pushed.replies(to: hub.camera).map(\.result) == [[:]])
    }

    @Test("The hub answers by path; a provisioning token is never for the account")
    func server() throws {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        func ask(_ address: LinkAddress, _ path: String, _ data: String? = nil) throws -> Result<JSONValue, IoTError>? {
            var params: JSONValue = ["path": .string(path)]
            params["data"] = data.map { .string(Data($0.utf8).base64EncodedString()) }
            return try hub.request(address, "server.request", params)?.outcome.flatMap { result in
                Result { () throws(IoTError) in
                    (try? JSONValue(parsing: try MessageData(result["data"]).bytes)) ?? .null
                }
            }
        }
        #expect(try ask(hub.stranger, "GET/time")?.get() == ["t": .integer(hub.time.wall)])
        #expect(try code(ask(hub.owner, "GET/none")) == .serverPassThroughFailed)
        #expect(try code(ask(hub.owner, "GET/NetCfg_Token", "[]")) == .invalidRequest)
        #expect(try code(ask(hub.owner, "GET/NetCfg_Token", #"{"ttlSeconds":3601}"#)) == .invalidRequest)
        #expect(try code(ask(hub.guest, "GET/NetCfg_Token", #"{"device":"front"}"#)) == .relationInvalid)
        let token = try ask(hub.owner, "GET/NetCfg_Token", #"{"device":"front"}"#)?.get()
        #expect(token?["expires"] == .integer(hub.time.seconds + 300))
        #expect(token?["token"]?.stringValue?.utf8.count == 32)
        #expect(token?["enrolment"]?.stringValue?.hasPrefix("iotlink") == true)
        #expect(hub.core.state.enrolments.values.map(\.devices) == [[hub.front]])
        let open = try ask(hub.stranger, "GET/NetCfg_Token")?.get()["id"]?.stringValue
        #expect(hub.core.state.enrolments[open ?? ""]?.provisioning == .newcomer)
        #expect(hub.core.state.enrolments.values.allSatisfy { $0.user == nil })
    }

    private func code(_ outcome: Result<JSONValue, IoTError>?) -> ErrorCode? {
        if case .failure(let error) = outcome { error.code } else { nil }
    }
}
