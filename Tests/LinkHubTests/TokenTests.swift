import Crypto
import IoTCore
import IoTLink
import NIOCore
import Testing

@testable import LinkHub

@Suite("Tokens as requests")
struct TokenTests {
    private func online() throws -> CoreFixture {
        var hub = try CoreFixture()
        try hub.bringEverybodyOnline()
        return hub
    }

    private func credentials(_ hub: CoreFixture) -> [HubOutput] {
        hub.outputs.filter { if case .message = $0 { false } else { true } }
    }

    @Test("A created token is the principal's, has the requested lifetime, and reaches the broker before the answer")
    func create() throws {
        var hub = try online()
        let reply = try #require(try hub.request(hub.guest, "token.create", ["ttlSeconds": 100])?.result)
        guard case .addCredential(let credential, _)? = hub.outputs.first else {
            Issue.record("the credential must be sent first")
            return
        }
        #expect(credential.tokenID == reply["id"]?.stringValue)
        let claims = hub.core.authority.verify(reply["token"]?.stringValue ?? "", as: LinkTokenClaims.self)
        #expect(claims?.sub == "u/guest" && claims?.exp == hub.time.seconds + 100)
        #expect(reply["expires"] == .integer(hub.time.seconds + 100))
        for wrong: JSONValue in [0, -1, 315_360_001, .integer(.max), .null, "1"] {
            let code = try hub.request(hub.guest, "token.create", ["ttlSeconds": wrong])?.code
            #expect(code == .invalidRequest)
        }
        #expect(
            try hub.request(hub.guest, "token.create", ["principal": "e/x", "ttlSeconds": 1])?.code == .invalidRequest)
        // The answer contains a secret, so it is not in the store.
        #expect(!hub.stored.contains { if case .answer = $0 { true } else { false } })
    }

    @Test("A repeated request does not return a token, or an exchange, that could not be stored")
    func notStored() throws {
        var hub = try online()
        let owner = JSONValue.string("owner")
        let enrolled = try hub.request(hub.owner, "token.enrol", ["user": owner])?.result["id"]?.stringValue ?? ""
        let box = LinkAddress.random(try #require(Principal(kind: .enrolment, id: enrolled)))
        let before = hub.core.state
        let lost = try hub.request(hub.guest, "token.create", ["ttlSeconds": 100], id: "x")?.result["id"]
        let exchanged = try hub.request(box, "enrol.exchange", id: "y")
        hub.core.restore(before)
        let made = try hub.request(hub.guest, "token.create", ["ttlSeconds": 100], id: "x")?.result["id"]
        #expect(made != lost && hub.core.state.tokens[made?.stringValue ?? ""] != nil)
        let again = try hub.request(box, "enrol.exchange", id: "y")
        #expect(again?.code == .success && again != exchanged)
        #expect(hub.core.state.tokens.of(hub.owner.principal).count == 1)
    }

    @Test("A principal has a bounded number of tokens")
    func bounded() throws {
        var limits = HubLimits()
        limits.tokensOfPrincipal = 2
        var hub = try CoreFixture(limits: limits)
        try hub.bringEverybodyOnline()
        for code in [ErrorCode.success, .success, .tooManyRequests] {
            #expect(try hub.request(hub.guest, "token.create", ["ttlSeconds": 100])?.code == code)
        }
    }

    @Test("A renewed token has the lifetime of the one that is sent, or of the newest; once in ten seconds")
    func renew() throws {
        var hub = try online()
        #expect(try hub.request(hub.guest, "token.renew")?.code == .tokenRejected, "it has no token")
        let time = hub.time
        let long = try hub.core.issueToken(hub.guest.principal, lifetime: 1_000, at: time)
        hub.advance(.seconds(1))
        let later = hub.time
        _ = try hub.core.issueToken(hub.guest.principal, lifetime: 50, at: later)
        let newest = try hub.request(hub.guest, "token.renew")?.result
        #expect(newest?["expires"] == .integer(hub.time.seconds + 50))
        #expect(try hub.request(hub.guest, "token.renew")?.code == .tooManyRequests)
        hub.advance(.seconds(10))
        let shown = try hub.request(hub.guest, "token.renew", ["token": .string(long.token)])?.result
        #expect(shown?["expires"] == .integer(hub.time.seconds + 1_000))
        #expect(hub.core.state.tokens[long.id] != nil, "the present token stays valid")
        hub.advance(.seconds(10))
        let foreign = try hub.core.issueToken(hub.owner.principal, lifetime: 5_000, at: later).token
        #expect(try hub.request(hub.guest, "token.renew", ["token": .string(foreign)])?.code == .tokenRejected)
        let device = try hub.core.issueToken(hub.camera.principal, lifetime: 70, at: hub.time)
        #expect(device.expires == hub.time.seconds + 70)
        let renewed = try hub.request(hub.camera, "token.renew")?.result
        #expect(renewed?["expires"] == .integer(hub.time.seconds + 70))
    }

    @Test("A gateway checks with the hub's keys which tokens the hub has signed")
    func keys() throws {
        var hub = try online()
        let keys = try #require(TokenKeys(jwkSet: try hub.request(hub.guest, "token.keys", [:])?.result ?? .null))
        let token = try #require(
            try hub.request(hub.guest, "token.createAPI", ["ttlSeconds": 100])?.result["token"]?.stringValue)
        let claims = TokenKeys.Claims(
            kind: "api", subject: hub.guest.principal, expires: hub.time.seconds + 100)
        #expect(keys.claims(of: token) == claims)
        let other = TokenAuthority(key: HubKey(signing: Curve25519.Signing.PrivateKey()))
        let forged = try other.sign(APITokenClaims(sub: "u/guest", jti: "1", iat: 0, exp: .max))
        let parts = token.split(separator: ".").map(String.init)
        let unsigned = "\(parts[0]).\(parts[1])."
        let swapped = "\(parts[0]).\(forged.split(separator: ".")[1]).\(parts[2])"
        for wrong in [forged, unsigned, swapped, token + ".", "", "..", "a.b.c", String(token.dropLast())] {
            #expect(keys.claims(of: wrong) == nil, "\(wrong)")
        }
        #expect(TokenKeys(jwkSet: ["keys": [["kty": "RSA"], ["kty": "OKP", "crv": "Ed25519", "x": "AA"]]]) == nil)
        #expect(TokenKeys(jwkSet: .null) == nil)
    }

    @Test("A token check returns the account and the rights until the token is revoked or expires; others are refused")
    func check() throws {
        var hub = try online()
        let made = try #require(
            try hub.request(
                hub.guest, "token.createAPI", ["devices": ["front"], "actions": ["view"], "ttlSeconds": 100])?.result)
        #expect(credentials(hub).isEmpty, "the broker is not involved")
        let ask: JSONValue = ["token": made["token"] ?? .null]
        let checked = try hub.request(hub.stranger, "token.check", ask)?.result
        #expect(
            checked == [
                "account": "guest", "kind": "member", "id": made["id"] ?? .null,
                "expires": .integer(hub.time.seconds + 100),
                "devices": [.string(hub.front.rawValue)], "actions": ["view"],
            ])
        let plain = try hub.request(hub.guest, "token.createAPI", ["ttlSeconds": 100])?.result
        let all = try hub.request(hub.stranger, "token.check", ["token": plain?["token"] ?? .null])?.result
        #expect(all?["devices"] == .null && all?["actions"] == .null)

        let time = hub.time
        let link = try hub.core.issueToken(hub.guest.principal, lifetime: 600, at: time)
        let other = TokenAuthority(key: HubKey(signing: Curve25519.Signing.PrivateKey()))
        let forged = try other.sign(
            APITokenClaims(sub: "u/guest", jti: made["id"]?.stringValue ?? "", iat: 0, exp: .max))
        for wrong in [link.token, forged, "", "a.b.c"] {
            #expect(try hub.request(hub.guest, "token.check", ["token": .string(wrong)])?.code == .unauthenticated)
        }
        // An API token gives no session.
        #expect(try hub.request(hub.guest, "token.renew", ask)?.code == .tokenRejected)

        let id: JSONValue = ["id": made["id"] ?? .null]
        #expect(try hub.request(hub.guest, "token.revoke", id)?.code == .success)
        #expect(try hub.request(hub.guest, "token.check", ask)?.code == .unauthenticated)
        hub.advance(.seconds(101))
        _ = try hub.request(hub.guest, "session.begin")
        _ = hub.timeout()
        #expect(
            try hub.request(hub.guest, "token.check", ["token": plain?["token"] ?? .null])?.code == .unauthenticated)
    }

    @Test("A token keeps its creator's name, and an API token its last use, also after a restart")
    func names() throws {
        var hub = try online()
        for name in ["", "a\nb", "\u{9b}31m", String(repeating: "n", count: 65)] {
            for method in ["token.create", "token.createAPI"] {
                let params: JSONValue = ["name": .string(name), "ttlSeconds": 100]
                #expect(try hub.request(hub.guest, method, params)?.code == .invalidRequest)
            }
        }
        func listed() throws -> JSONValue {
            let tokens = try hub.request(hub.guest, "token.list")?.result["tokens"]?.arrayValue ?? []
            return tokens.first { $0["name"] == "Küche" } ?? .null
        }
        let made = try hub.request(hub.guest, "token.createAPI", ["name": "Küche", "ttlSeconds": 1000])?.result
        #expect(try listed()["lastUse"] == nil)
        let used = hub.time.seconds
        #expect(
            try hub.request(hub.stranger, "token.check", ["token": made?["token"] ?? .null])?.code == .success)
        #expect(try listed()["lastUse"] == .integer(used))
        _ = hub.timeout()
        let changes = hub.stored.filter {
            switch $0 {
            case .addToken, .use: true
            default: false
            }
        }
        let store = try SQLiteHubStore(path: nil)
        try store.commit([changes])
        let stored = try store.load().tokens[made?["id"]?.stringValue ?? ""]
        #expect(stored?.name == "Küche" && stored?.lastUse == used)
    }

    @Test("Principals see their own tokens, administrators all; the tokens themselves are visible to nobody")
    func list() throws {
        var hub = try online()
        let time = hub.time
        for address in [hub.owner, hub.guest, hub.camera] {
            _ = try hub.core.issueToken(address.principal, lifetime: 600, at: time)
        }
        _ = try hub.request(hub.guest, "token.createAPI", ["devices": ["front"], "ttlSeconds": 100])
        _ = try hub.request(hub.guest, "token.enrol")
        let own = try hub.request(hub.guest, "token.list")?.result["tokens"]?.arrayValue ?? []
        #expect(own.map { $0["kind"]?.stringValue ?? "" }.sorted() == ["api", "enrolment", "link"])
        #expect(own.allSatisfy { $0["principal"] == "u/guest" && $0["token"] == nil && $0["hash"] == nil })
        try hub.core.ensureAdministrator(hub.owner.principal.accessID!, at: time)
        let all = try hub.request(hub.owner, "token.list")?.result
        #expect(all?["tokens"]?.arrayValue?.count == 5 && all?["more"] == false)
        let pages = try hub.request(hub.owner, "token.list", ["limit": 3])?.result
        let last = pages?["tokens"]?.arrayValue?.last?["id"] ?? .null
        #expect(pages?["more"] == true)
        let rest = try hub.request(hub.owner, "token.list", ["limit": 3, "after": last])?.result
        #expect(rest?["tokens"]?.arrayValue?.count == 2 && rest?["more"] == false)
    }

    @Test("Revoking one of two tokens affects no session that the broker does not end; revoking the last one kicks")
    func revoke() throws {
        var hub = try online()
        let time = hub.time
        let first = try hub.core.issueToken(hub.camera.principal, lifetime: 600, at: time).id
        let second = try hub.core.issueToken(hub.camera.principal, lifetime: 600, at: time).id
        try hub.core.ensureAdministrator(hub.owner.principal.accessID!, at: time)
        let one = try hub.sendRequest(hub.owner, "token.revoke", ["id": .string(first)])
        #expect(!one.contains { $0.pushMethod == SessionMethod.kick.name })
        #expect(hub.core.sessions[hub.camera.principal] != nil)
        let sent = try hub.sendRequest(hub.owner, "token.revoke", ["id": .string(second)])
        #expect(sent.first { $0.address == hub.camera }?.push?.params == ["reason": "revoked"])
        #expect(hub.core.sessions[hub.camera.principal] == nil)
        #expect(try hub.request(hub.owner, "token.revoke", ["id": .string(second)])?.code == .notFound)
    }

    @Test("A guest's API token cannot name a device that the guest is not bound to")
    func scope() throws {
        var hub = try online()
        for (name, code): (String, ErrorCode) in [
            ("back", .targetNotFound), (hub.back.rawValue, .relationInvalid), ("no", .targetNotFound),
        ] {
            let params: JSONValue = ["devices": [.string(name)], "ttlSeconds": 100]
            #expect(try hub.request(hub.guest, "token.createAPI", params)?.code == code)
        }
        for wrong: JSONValue in [["devices": "front"], ["devices": [1]], ["actions": []], ["actions": ["own"]]] {
            var params = wrong
            params["ttlSeconds"] = 100
            #expect(try hub.request(hub.guest, "token.createAPI", params)?.code == .invalidRequest)
        }
    }
}
