import Crypto
import Foundation
import IoTCore
import IoTLink
import NIOCore
import Synchronization
import Testing

@testable import Gateway

@Suite struct BearerTokensTests {
    /// A hub with configurable answers, and a clock that the test advances.
    private final class World: Sendable {
        let state = Mutex<(checks: Int, isKnown: Bool, now: NIODeadline, wall: Int64)>(
            (0, true, .uptimeNanoseconds(1_000_000_000_000), 1_000_000))
        let key = Curve25519.Signing.PrivateKey()

        var tokens: BearerTokens {
            BearerTokens(
                now: { self.state.withLock { $0.now } }, wall: { self.state.withLock { $0.wall } },
                check: { _ in
                    let isKnown = self.state.withLock { state in
                        state.checks += 1
                        return state.isKnown
                    }
                    guard isKnown else { throw IoTError(.unauthenticated) }
                    var grant = TokenGrant.owners
                    grant.expires = 1100
                    return grant
                })
        }

        func advance(_ time: TimeAmount) {
            state.withLock { state in
                state.now = state.now + time
                state.wall += time.nanoseconds / 1_000_000
            }
        }

        func set(isKnown: Bool) { state.withLock { $0.isKnown = isKnown } }

        var checks: Int { state.withLock { $0.checks } }

        // MARK: Signatures

        var keys: TokenKeys? {
            let x = text(key.publicKey.rawRepresentation)
            return TokenKeys(jwkSet: ["keys": [["kty": "OKP", "crv": "Ed25519", "x": .string(x)]]])
        }

        func token(_ number: Int, of account: String = "guest", expires: Int64 = 2000, kind: String = "api") throws
            -> BearerToken
        {
            let claims: JSONValue = [
                "kind": .string(kind), "sub": .string("u/\(account)"), "jti": .string("\(number)"),
                "exp": .integer(expires),
            ]
            let signed = text(Data(#"{"alg":"EdDSA"}"#.utf8)) + "." + text(Data(claims.jsonText.utf8))
            let signature = try key.signature(for: Data(signed.utf8))
            return try #require(BearerToken("\(signed).\(text(signature))".utf8))
        }

        private func text(_ data: Data) -> String {
            data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
    }

    private let good = BearerToken("a.b.c".utf8)!
    private let here = RemoteAddress.local

    private func address(_ number: Int) throws -> RemoteAddress {
        RemoteAddress(try SocketAddress(ipAddress: "192.0.2.\(number)", port: 1))
    }

    private func proof(_ nonce: String, of id: String = "0123456789") throws -> BearerToken {
        let text = HTTPDigest(realm: "iotvideod", nonce: nonce, hasQuality: true).authorization(
            username: id, password: id + "secret", method: "DESCRIBE", uri: "rtsp://h/front", clientNonce: "c")
        let authorization = try #require(DigestAuthorization(text))
        return try #require(BearerToken(KeyProof(authorization, method: "DESCRIBE")))
    }

    @Test("Of many logins with one media key, each is checked once, and later only the first is checked again")
    func proofs() async throws {
        let world = World()
        let tokens = world.tokens
        var shown: Set<BearerToken?> = []
        for number in 0..<10 {
            let caller = try await tokens.caller(of: try proof("\(number)"), from: here)
            #expect(caller.bearer?.token.kind == .key)
            shown.insert(caller.bearer?.token)
        }
        let first = try proof("0")
        #expect(world.checks == 10 && shown == [first])
        // After a refusal, the first proof is forgotten, and the next login's proof replaces it.
        world.advance(.seconds(2))
        world.set(isKnown: false)
        await #expect(throws: IoTError.self) { try await tokens.caller(of: try self.proof("0"), from: self.here) }
        world.set(isKnown: true)
        let next = try await tokens.caller(of: try proof("10"), from: here)
        #expect(try next.bearer?.token == proof("10"))
    }

    @Test("A proof does not contain the key, is not printed, and needs a key's id as its user name")
    func proofForm() throws {
        let token = try proof("n")
        #expect(token.text == "0123456789" && BearerToken(token.text.utf8) == nil)
        #expect("\(token)" == "media key" && !String(reflecting: token).contains("0123456789"))
        for id in ["", "owner", "0123456789abcdef", "ABCDEF0123"] {
            let text = HTTPDigest(realm: "r", nonce: "n").authorization(
                username: id, password: "p", method: "M", uri: "u", clientNonce: "c")
            let authorization = try #require(DigestAuthorization(text))
            #expect(BearerToken(KeyProof(authorization, method: "M")) == nil, "\(id)")
        }
    }

    @Test("The hub's answer is cached for a second, so a revoked token is valid for at most that long")
    func memory() async throws {
        let world = World()
        let tokens = world.tokens
        #expect(try await tokens.caller(of: good, from: here).account.rawValue == "owner")
        world.set(isKnown: false)
        world.advance(.milliseconds(999))
        _ = try await tokens.caller(of: good, from: here)
        #expect(world.checks == 1)
        world.advance(.milliseconds(1))
        await #expect(throws: IoTError.self) { try await tokens.caller(of: good, from: here) }
        #expect(world.checks == 2)
    }

    @Test("An expired token is refused even while the hub's answer is cached")
    func expiry() async throws {
        let world = World()
        let tokens = world.tokens
        world.state.withLock { $0.wall = 1_099_500 }
        _ = try await tokens.caller(of: good, from: here)
        world.advance(.milliseconds(500))
        await #expect(throws: IoTError.self) { try await tokens.caller(of: good, from: here) }
        #expect(world.checks == 1)
    }

    @Test("Text of another form is not a token", arguments: ["", "a", "a.b", "a.b.c.d", "a.b.ü", "a b.c.d"])
    func nonsense(text: String) {
        #expect(BearerToken(text.utf8) == nil)
        #expect(BearerToken(repeatElement(UInt8(ascii: "."), count: 5000)) == nil)
    }

    @Test("With the hub's keys, tokens that it did not sign cause no requests to it and block no caller")
    func forged() async throws {
        let world = World()
        let tokens = world.tokens
        tokens.use(world.keys)
        let forger = World()
        for number in 0..<500 {
            let forged = try forger.token(number)
            let error = await #expect(throws: IoTError.self) { try await tokens.caller(of: forged, from: here) }
            #expect(error?.code == .unauthenticated)
        }
        for wrong in [try world.token(1, kind: "link"), try world.token(1, expires: 999), good] {
            await #expect(throws: IoTError.self) { try await tokens.caller(of: wrong, from: here) }
        }
        #expect(world.checks == 0)
        _ = try await tokens.caller(of: try world.token(2), from: here)
        #expect(world.checks == 1)
    }

    @Test("An account with many revoked tokens uses up only its own checks")
    func revoked() async throws {
        let world = World()
        let tokens = world.tokens
        tokens.use(world.keys)
        world.set(isKnown: false)
        for number in 0..<100 {
            _ = try? await tokens.caller(of: try world.token(number, of: "greedy"), from: here)
        }
        #expect(world.checks == SharedResource.tokenChecks.each)
        world.set(isKnown: true)
        _ = try await tokens.caller(of: try world.token(0, of: "other"), from: here)
    }

    @Test("A token that was valid is checked again whatever else is sent, with and without the hub's keys")
    func knownGood() async throws {
        let world = World()
        let tokens = world.tokens
        _ = try await tokens.caller(of: good, from: here)
        world.set(isKnown: false)
        for number in 0..<3000 {
            let junk = try #require(BearerToken("a.b.\(number)".utf8))
            _ = try? await tokens.caller(of: junk, from: try address(number % 200))
        }
        let before = world.checks
        #expect(before == SharedResource.tokenChecks.total)
        world.set(isKnown: true)
        world.advance(.milliseconds(999))
        _ = try await tokens.caller(of: good, from: here)
        #expect(world.checks == before, "remembered")
        world.advance(.milliseconds(1))
        _ = try await tokens.caller(of: good, from: here)
        #expect(world.checks == before + 1)
    }

    @Test("Without keys each address has a limited number of checks per second")
    func addresses() async throws {
        let world = World()
        let tokens = world.tokens
        world.set(isKnown: false)
        var refused = 0
        for number in 0..<200 {
            let junk = try #require(BearerToken("a.b.\(number)".utf8))
            do {
                _ = try await tokens.caller(of: junk, from: try address(1))
            } catch let error as IoTError where error.code == .tooManyRequests {
                refused += 1
            } catch {}
        }
        #expect(refused == 200 - SharedResource.tokenChecks.each)
        world.set(isKnown: true)
        _ = try await tokens.caller(of: good, from: try address(2))
        world.advance(.seconds(1))
        _ = try await tokens.caller(of: try world.token(1), from: try address(1))
    }

    @Test("Invalid media keys use up only their address's checks, none of tokens; a valid key is still checked")
    func junkKeys() async throws {
        let world = World()
        let tokens = world.tokens
        tokens.use(world.keys)
        func key(_ number: Int) throws -> BearerToken {
            let text = String(number)
            return try #require(BearerToken("0123456789\(String(repeating: "A", count: 22 - text.count))\(text)".utf8))
        }
        let good = try key(0)
        #expect(good.kind == .key)
        #expect(try await tokens.caller(of: good, from: try address(1)).credentials == .key("1"))
        world.set(isKnown: false)
        for number in 1...500 { _ = try? await tokens.caller(of: try key(number), from: try address(1)) }
        #expect(world.checks == SharedResource.tokenChecks.each)
        for number in 501...3000 { _ = try? await tokens.caller(of: try key(number), from: try address(number % 200)) }
        #expect(world.checks == SharedResource.tokenChecks.total)
        world.set(isKnown: true)
        _ = try await tokens.caller(of: try world.token(1), from: try address(1))
        world.advance(.milliseconds(999))
        _ = try await tokens.caller(of: good, from: try address(1))
        #expect(world.checks == SharedResource.tokenChecks.total + 1, "remembered")
        world.advance(.milliseconds(1))
        _ = try await tokens.caller(of: good, from: try address(1))
        world.set(isKnown: false)
        world.advance(.seconds(1))
        let error = await #expect(throws: IoTError.self) { try await tokens.caller(of: good, from: here) }
        #expect(error?.code == .unauthenticated)
    }

    @Test("Concurrent requests with one token cause one check")
    func together() async throws {
        let asked = Mutex(0)
        let answers = Readiness<Void>()
        let tokens = BearerTokens { _ in
            asked.withLock { $0 += 1 }
            try await answers.wait()
            return TokenGrant.owners
        }
        try await withThrowingTaskGroup(of: Caller.self) { group in
            for _ in 0..<50 { group.addTask { try await tokens.caller(of: good, from: here) } }
            answers.settle(.success(()))
            for try await caller in group { #expect(caller.credentials == .token("1")) }
        }
        #expect(asked.withLock { $0 } == 1)
    }

    @Test("A token is not printed")
    func secret() throws {
        let world = World()
        let token = try world.token(1)
        let caller = TokenGrant.owners.caller(showing: token)
        var dumped = ""
        dump(caller, to: &dumped)
        for text in ["\(caller)", String(reflecting: caller), dumped] { #expect(!text.contains(token.text)) }
    }
}
