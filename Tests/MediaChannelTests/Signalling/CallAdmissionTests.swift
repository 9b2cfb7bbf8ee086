import IoTCore
import IoTLink
import Testing

@testable import MediaChannel

@Suite struct CallAdmissionTests {
    private let hub = SignedTokens()
    private let device = DeviceID.random()
    private var admission: CallAdmission { CallAdmission(device: device, offered: [.monitor]) }

    private func claims(_ changes: [String: JSONValue?] = [:]) -> JSONValue {
        var claims: JSONValue = [
            "kind": "call", "sub": .string("d/\(device)"), "from": "u/guest", "channel": "monitor",
            "actions": ["view", "listen"], "owner": false, "jti": "1", "iat": 940, "exp": 1_000,
        ]
        for (name, value) in changes { claims[name] = value }
        return claims
    }

    private func connect(_ params: JSONValue, from: String = "u/guest") -> LinkRequest {
        let params = params.merging(["session": "s"])
        return LinkRequest(
            id: "1", method: CallMethod.connect.name, from: Principal(from), params: params, t: 0, deadline: 1)
    }

    private func grant(_ request: LinkRequest, _ keys: TokenKeys?, at now: Int64) throws(IoTError) -> CallGrant {
        let call = try CallMethod.connect.parameters(of: request)
        return try admission.grant(of: call, from: request.from, keys: keys, at: now)
    }

    /// A call as a current hub forwards it.
    private func call(_ claims: JSONValue, kind: JSONValue? = "monitor", from: String = "u/guest") throws -> LinkRequest
    {
        var params: JSONValue = ["token": .string(try hub.sign(claims))]
        params["kind"] = kind
        return connect(params, from: from)
    }

    private func refusal(_ request: LinkRequest, _ keys: TokenKeys?, at now: Int64 = 1_000) -> ErrorCode? {
        do throws(IoTError) {
            _ = try grant(request, keys, at: now)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("The token alone determines the caller's rights, whatever else the hub sends")
    func token() throws {
        var request = try call(claims(["owner": true]))
        request.params["grant"] = [
            "user": "u/stranger", "kind": "playback", "actions": ["view", "talk"], "expires": 9_999, "owner": false,
        ]
        let grant = try self.grant(request, try hub.keys, at: 1_000)
        #expect(
            grant.user.description == "u/guest" && grant.kind == .monitor && grant.isOwner && grant.expires == 1_000)
        #expect(grant.actions == [.view, .listen])
        let guest = try self.grant(try call(claims(["owner": nil])), try hub.keys, at: 1_000)
        #expect(!guest.isOwner, "an older hub's token does not contain the device's owner")
        #expect(refusal(try call(claims(), kind: nil), try hub.keys) == nil, "an absent kind is monitor")
        #expect(refusal(try call(claims(), kind: 1), try hub.keys) == nil, "a kind may be a number")
    }

    @Test("A token that the hub did not sign, that has expired, or that is for something else is refused with 20010")
    func invalid() throws {
        let keys = try hub.keys
        let wrong: [(String, JSONValue?)] = [
            ("kind", "link"), ("kind", nil), ("sub", .string("d/\(DeviceID.random())")), ("sub", nil),
            ("from", "u/stranger"), ("from", nil), ("channel", "live"), ("channel", "film"), ("channel", nil),
            ("actions", nil), ("exp", nil), ("exp", "soon"), ("exp", 939), ("exp", .integer(.min)),
        ]
        for (name, value) in wrong {
            #expect(refusal(try call(claims([name: value])), keys) == .callTokenInvalid, "\(name) \(value as Any)")
        }
        #expect(refusal(try call(claims(), from: "u/stranger"), keys) == .callTokenInvalid, "another's token")
        #expect(refusal(try call(claims(), kind: "live"), keys) == .callTokenInvalid, "for another kind")
        #expect(refusal(try call(claims()), try SignedTokens().keys) == .callTokenInvalid, "another hub's")
        #expect(refusal(try call(claims()), TokenKeys.none) == .callTokenInvalid, "keys that cannot be used")
        let token = try hub.sign(claims())
        let parts = token.split(separator: ".").map(String.init)
        let more = Base64URL.encode(claims(["actions": ["view", "talk"]]).jsonText.utf8)
        for text in [
            "", "..", "a.b.c", "\(parts[0]).\(parts[1]).", "\(parts[0]).\(more).\(parts[2])", token + "A",
            String(token.dropLast()), String(repeating: ".", count: 10_000),
        ] {
            #expect(refusal(connect(["token": .string(text)]), keys) == .callTokenInvalid, "\(text.prefix(80))")
        }
    }

    @Test("Actions that this version does not know grant nothing and do not invalidate the others")
    func unknownActions() throws {
        let found = try grant(try call(claims(["actions": ["fly", "view", 1]])), try hub.keys, at: 1_000)
        #expect(found.actions == [.view])
        #expect(refusal(try call(claims(["actions": ["fly"]])), try hub.keys) == .callTokenRejected)
    }

    @Test("A token is valid for 60 s after its expiry, because clocks differ")
    func leeway() throws {
        let keys = try hub.keys
        #expect(refusal(try call(claims()), keys, at: 1_060) == nil)
        #expect(refusal(try call(claims()), keys, at: 1_061) == .callTokenInvalid)
        #expect(refusal(try call(claims(["exp": .integer(.max)])), keys, at: 1_061) == nil)
    }

    @Test("Without a token, or with one that does not allow viewing, a call is refused with 20006")
    func rejected() throws {
        let keys = try hub.keys
        let grant: JSONValue = ["user": "u/guest", "actions": ["view"], "expires": 9_999, "owner": true]
        #expect(refusal(connect(["grant": grant]), keys) == .callTokenRejected, "the hub's grant is not sufficient")
        #expect(refusal(connect(["grant": grant, "token": 1]), keys) == .callTokenRejected)
        #expect(refusal(try call(claims(["actions": ["talk"]])), keys) == .callTokenRejected)
    }

    @Test("A live call needs the action `talk`")
    func live() throws {
        let admission = CallAdmission(device: device, offered: [.monitor, .live])
        for (actions, code) in [(["view", "talk"], nil), (["view", "listen"], .callTokenRejected)]
            as [(JSONValue, ErrorCode?)]
        {
            let request = try call(claims(["channel": "live", "actions": actions]), kind: "live")
            let parameters = try CallMethod.connect.parameters(of: request)
            var refusal: ErrorCode?
            do {
                _ = try admission.grant(of: parameters, from: request.from, keys: try hub.keys, at: 1_000)
            } catch {
                refusal = (error as? IoTError)?.code
            }
            #expect(refusal == code)
        }
    }

    @Test("A kind that the device does not offer is refused with 21040, and an invalid kind with 25001")
    func kinds() throws {
        let keys = try hub.keys
        for kind in ChannelKind.allCases {
            let request = try call(claims(["channel": .string(kind.name)]), kind: .string(kind.name))
            #expect(refusal(request, keys) == (kind == .monitor ? nil : .operationNotAllowed), "\(kind)")
        }
        for kind in ["film", 4, 1.5, []] as [JSONValue] {
            #expect(refusal(try call(claims(), kind: kind), keys) == .invalidRequest, "\(kind)")
        }
    }

    @Test("If a hub gives its devices no keys, the device relies on the hub's grant, as before")
    func vouched() throws {
        let grant: JSONValue = ["user": "u/guest", "actions": ["view"], "expires": 1_000]
        let found = try self.grant(connect(["kind": "monitor", "grant": grant]), nil, at: 5_000)
        #expect(
            found.user.description == "u/guest" && found.kind == .monitor && found.actions == [.view] && !found.isOwner)
        #expect(refusal(connect(["kind": "monitor"]), nil) == .callTokenRejected)
        #expect(refusal(connect(["kind": "live", "grant": grant]), nil) == .operationNotAllowed)
        #expect(
            refusal(connect(["grant": ["user": "u/guest", "actions": ["talk"], "expires": 1]]), nil)
                == .callTokenRejected)
    }
}
