import IoTCore
import NIOCore
import Testing

@testable import PeerTransport

@Suite struct LongTermCredentialTests {
    static func challenge(_ attributes: [STUNAttribute]) -> STUNMessage {
        STUNMessage(
            .errorResponse, method: STUNMessage.allocateMethod, transactionID: STUNTransactionID(high: 1, low: 1),
            attributes: [.errorCode(401, reason: "Unauthorized")] + attributes)
    }

    static let request = STUNMessage(
        .request, method: STUNMessage.allocateMethod, transactionID: STUNTransactionID(high: 1, low: 2))

    @Test("The SHA-256 key and hash match the sample in RFC 8489 appendix B.1")
    func sampleHash() throws {
        let username = "\u{30DE}\u{30C8}\u{30EA}\u{30C3}\u{30AF}\u{30B9}"
        // Up to MESSAGE-INTEGRITY-SHA256: USERHASH, NONCE and REALM.
        let covered = try #require(
            Hex.decode(
                "0001009c2112a44278ad3433c6ad72c029da412e001e00204a3cf38fef6992bda952c6780417da0f"
                    + "24819415569e60b205c46e41407f1704001500296f624d61744a6f733241414143662f2f3439396b"
                    + "39353464364f4c33346f4c39465354767936347341000000"
                    + "0014000b6578616d706c652e6f726700"))
        let key = MessageIntegrity.longTermKey(
            username: username, realm: "example.org", password: "TheMatrIX", algorithm: .sha256)
        let code = MessageIntegrity.authenticationCode(of: covered, key: key, algorithm: .sha256)
        #expect(Hex.encode(code) == "e4686c8f0edeb59013e07090010a93efccbccc544c0a45d9f830aa6d6f735a01")
    }

    @Test("The first request is plain; after a challenge it carries user, realm, nonce and the MD5 key's hash")
    func classic() throws {
        var credential = LongTermCredential(username: "user", password: "secret")
        #expect(try !STUNMessage(parsing: credential.datagram(Self.request)).hasIntegrity)
        let isTaken = credential.takeChallenge(Self.challenge([.realm("example.org"), .nonce([1, 2])]))
        #expect(isTaken)
        let sent = try STUNMessage(parsing: credential.datagram(Self.request))
        #expect(sent.username == "user")
        #expect(sent.realm == "example.org")
        #expect(sent.nonce == [1, 2])
        let key = MessageIntegrity.longTermKey(username: "user", realm: "example.org", password: "secret")
        #expect(sent.isAuthentic(key: key))
        #expect(!sent.isAuthentic(key: key, by: .sha256))
    }

    @Test("For a server that offers SHA-256, requests use it, return its list unchanged, and have no SHA-1")
    func modern() throws {
        var credential = LongTermCredential(username: "user", password: "secret")
        let list: [UInt8] = [0, 1, 0, 0, 0, 2, 0, 0]
        let nonce = Array("obMatJos2gAAA1".utf8)
        let isTaken = credential.takeChallenge(
            Self.challenge([.realm("example.org"), .nonce(nonce), .passwordAlgorithms(list)]))
        #expect(isTaken)
        let sent = try STUNMessage(parsing: credential.datagram(Self.request))
        #expect(sent.passwordAlgorithms == list)
        #expect(sent.attributes.contains(.passwordAlgorithm(2)))
        let key = MessageIntegrity.longTermKey(
            username: "user", realm: "example.org", password: "secret", algorithm: .sha256)
        #expect(sent.isAuthentic(key: key, by: .sha256))
        #expect(!sent.isAuthentic(key: key, by: .sha1))
    }

    @Test("A removed list, or a list without a known algorithm, is refused rather than downgraded")
    func bidDown() {
        let long = String(repeating: "x", count: 764)
        let refused: [[STUNAttribute]] = [
            // The first bit after the cookie announces a list.
            [.realm("r"), .nonce(Array("obMatJos2gAAA1".utf8))],
            [.realm("r"), .nonce([1]), .passwordAlgorithms([0, 9, 0, 0])],
            [.realm("r"), .nonce([1]), .passwordAlgorithms([0, 2])],
            [.nonce([1])],
            [.realm("r")],
            [.realm(STUNText(long)), .nonce([1])],
            [.realm("r"), .nonce(Array(long.utf8))],
        ]
        for attributes in refused {
            var credential = LongTermCredential(username: "user", password: "secret")
            let isTaken = credential.takeChallenge(Self.challenge(attributes))
            #expect(!isTaken)
        }
        // Without the bit, a list is optional.
        var credential = LongTermCredential(username: "user", password: "secret")
        let isTaken = credential.takeChallenge(
            Self.challenge([.realm("r"), .nonce(Array("obMatJos2AAAA1".utf8))]))
        #expect(isTaken)
    }

    @Test("A time-limited credential matches coturn's for the shared secret")
    func timeLimited() {
        // openssl dgst -sha1 -hmac north -binary | base64
        let credential = TimeLimitedCredential(secret: "north", user: "camera", expiry: 1_800_000_000)
        #expect(credential.username == "1800000000:camera")
        #expect(credential.credential == "dhwFxklXEdpsD9DVp2YMBrc9QU0=")
        #expect(TimeLimitedCredential(secret: "north", user: "", expiry: 5).username == "5")
    }
}
