import IoTCore
import IoTLink
import Testing

/// The values in the messages of calls and sessions, also from earlier versions.
@Suite struct CallValueTests {
    private static let device = DeviceID(rawValue: "00112233445566778899aabbccddeeff")!
    private static let user = Principal("u/guest")!
    private static let route = CallRoute(peer: user, session: "s", peerSession: "p")

    private func read<Value: LinkValue>(_ type: Value.Type, _ json: JSONValue) throws(IoTError) -> Value {
        try Value(LinkMembers(json, of: "test", failure: .invalidRequest))
    }

    private func check<Value: LinkValue & Equatable>(_ value: Value) throws {
        #expect(try read(Value.self, value.json) == value)
        // A later version may add members.
        #expect(try read(Value.self, value.json.merging(["later": [1, 2]])) == value)
    }

    @Test("Each value can be written and read, with unknown members")
    func roundTrips() throws {
        try check(CallTokenQuery(device: Self.device, kind: .playback, actions: [.view, .talk]))
        try check(CallToken(token: "a.b.c", expires: 5))
        let claims = CallTokenClaims(
            sub: .device(Self.device), from: Self.user, channel: .monitor, actions: [.view], jti: "1", iat: 2, exp: 3,
            owner: true)
        try check(claims)
        try check(CallGrant(claims))
        var request = CallRequest(
            device: Self.device, kind: .live, source: .camera(2), session: "s", offer: "v=0", token: "t")
        request.play = true
        request.peerSession = "p"
        request.grant = CallGrant(claims)
        try check(request)
        request.source = .caller
        try check(request)
        let server = CallServer(urls: ["turn:a"], username: "u", credential: "c")
        try check(CallAcceptance(session: "s", answer: "v=0", iceServers: [server], expires: 9))
        try check(CallAcceptance(session: "s", iceServers: [], expires: 9, rings: true))
        try check(CallInvitation(Self.route, offer: "v=0", iceServers: [server, CallServer(urls: ["stun:b"])]))
        try check(CallAnswer(answer: "v=0"))
        let proof = try DeviceKey().prove("text")
        request.proof = proof
        try check(request)
        try check(CallAcceptance(session: "s", answer: "v=0", proof: proof, iceServers: [], expires: 9))
        try check(CallInvitation(Self.route, offer: "v=0", proof: proof, iceServers: []))
        try check(CallAnswer(answer: "v=0", proof: proof))
        try check(CallCandidate(Self.route, candidate: "candidate:1"))
        try check(CallControl(Self.route, .stop))
        try check(CallEnding(Self.route, IoTError(.hungUp, "gone")))
        try check(SessionBeginning(session: "s", connection: 3))
        try check(
            SessionBegun(
                time: SessionTime(t: 7), principal: .device(Self.device), tokenExpires: 8, tokenKeys: ["keys": []]))
        try check(SessionHeartbeat(connection: 2))
        try check(SessionEnding(.connectionLost, connection: 1))
        try check(SessionKick(.revoked))
        try check(
            EnrolmentTokens(
                user: .init(accessID: AccessID(rawValue: "bob")!, token: "a", expires: 1),
                devices: [.init(device: Self.device, name: "front", token: "b", expires: 2)], hubName: "home"))
    }

    @Test("Values from earlier versions can be read")
    func before() throws {
        // A gateway sends the kind as a number. An earlier hub adds a grant without kind and owner.
        let call = try read(
            CallRequest.self,
            [
                "device": .string(Self.device.rawValue), "kind": 1, "session": "s", "token": "a.b.c",
                "grant": ["user": "u/guest", "actions": ["view", "fly"], "expires": 5],
            ])
        #expect(call.kind == .monitor && call.source == .main && call.offer == nil && call.play == nil)
        #expect(
            call.grant
                == CallGrant(user: Self.user, kind: .monitor, actions: [.view], expires: 5, isOwner: false))
        // A camera that does not know the peer's session sends null.
        let invitation = try read(
            CallInvitation.self, ["peer": "u/guest", "peerSession": nil, "session": "s", "offer": "v=0"])
        #expect(invitation.route.peerSession == nil && invitation.iceServers.isEmpty)
        let acceptance = try read(CallAcceptance.self, ["session": "s", "iceServers": [["urls": "stun:a"], [:]]])
        #expect(acceptance.iceServers == [CallServer(urls: [])], "a malformed server is skipped")
        let ending = try read(CallEnding.self, ["peer": "u/guest", "session": "s"])
        #expect(ending.reason.code == .hungUp && ending.reason.message == IoTError(.hungUp).message)
        #expect(try read(CallCandidate.self, ["peer": "u/guest", "session": "s"]).candidate.isEmpty)
    }

    @Test("A session that is not a string matches no call, and a call's session is validated")
    func sessions() throws {
        for session in [1, nil, ["s"]] as [JSONValue] {
            #expect(try read(CallRoute.self, ["peer": "u/guest", "session": session]).session.isEmpty)
        }
        for session in ["", "a b", "ä", .string(String(repeating: "a", count: 65))] as [JSONValue] {
            #expect(throws: IoTError.self) {
                try read(CallRequest.self, ["device": "front", "session": session])
            }
        }
    }

    @Test("A malformed member of a session message does not affect the other members")
    func damaged() throws {
        for t in [.integer(-1), .integer(.max), "x"] as [JSONValue] {
            let begun = SessionBegun(
                LinkMembers(["t": t, "principal": 5, "tokenKeys": 1], of: "", failure: .modelReceiveFailed))
            #expect(begun.time.t == nil && begun.principal == nil && begun.tokenKeys == 1)
        }
        let kick = try #require(SessionMethod.kick.parameters(of: LinkPush(method: SessionMethod.kick.name, params: 5)))
        #expect(kick.reason == .unknown)
        let end = SessionMethod.end.parameters(of: LinkPush(method: SessionMethod.end.name, params: ["reason": 5]))
        #expect(end != nil && end?.reason == nil)
    }

    @Test("An exchange without an account or a device is malformed")
    func emptyExchange() {
        let error = #expect(throws: IoTError.self) {
            try SessionMethod.exchangeEnrolment.result(["hub": ["name": "home"], "devices": []])
        }
        #expect(error?.code == .modelReceiveFailed)
    }
}
