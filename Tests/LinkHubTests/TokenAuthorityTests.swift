import Crypto
import Foundation
import IoTCore
import IoTLink
import Testing

@testable import LinkHub

@Suite("Tokens")
struct TokenAuthorityTests {
    private let authority = TokenAuthority(key: HubKey(signing: Curve25519.Signing.PrivateKey()))
    private let claims = LinkTokenClaims(sub: "u/owner", jti: "abc", iat: 1_000, exp: 2_000)

    /// The key of RFC 8037, Appendix A.1, as PKCS #8.
    private static let standardKey = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
        -----END PRIVATE KEY-----

        """

    @Test("A token that OpenSSL's command line signed with the key of RFC 8037 is accepted; ours has its form")
    func foreign() throws {
        let key = HubKey(signing: try HubKey.key(pem: Self.standardKey))
        #expect(key.publicText == "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
        #expect(try HubKey.pem(key.signing) == Self.standardKey)
        let authority = TokenAuthority(key: key)
        let foreign =
            "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9"
            + ".eyJraW5kIjoibGluayIsInN1YiI6InUvb3duZXIiLCJqdGkiOiJhYmMiLCJpYXQiOjEwMDAsImV4cCI6MjAwMH0"
            + ".lrDaPKINizhMCK2a6XFYVMCEYQT5vqT1jvpV4LSwCFNG6YXf-0xBOSoUWowDUio1gZXCYnDXwLjMy4GDq1zMBw"
        #expect(authority.verify(foreign, as: LinkTokenClaims.self) == claims)
        let (one, other) = (foreign.split(separator: "."), try authority.sign(claims).split(separator: "."))
        #expect(other.count == 3 && other[0] == one[0])
        for part in [one[1], other[1]] {
            let payload = try #require(Base64URL.decode(part))
            #expect(
                try JSONDecoder().decode(JSONValue.self, from: Data(payload))
                    == ["kind": "link", "sub": "u/owner", "jti": "abc", "iat": 1_000, "exp": 2_000])
        }
    }

    @Test("A token whose header names another algorithm is refused, although the hub's key signed it")
    func otherAlgorithm() throws {
        let parts = try authority.sign(claims).split(separator: ".")
        for header in [#"{"alg":"HS256"}"#, #"{"alg":"none"}"#, #"{"typ":"JWT"}"#, "{}", "x", #"{"alg":"EdDSA"}"#] {
            let input = Base64URL.encode(Array(header.utf8)) + "." + parts[1]
            let signature = Base64URL.encode(try authority.key.signing.signature(for: Array(input.utf8)))
            let verified = authority.verify(input + "." + signature, as: LinkTokenClaims.self)
            #expect(verified == (header.contains("EdDSA") ? claims : nil), "\(header)")
        }
    }

    @Test("A token of another key, a changed one, one without a signature and malformed text are refused")
    func refused() throws {
        let token = try authority.sign(claims)
        #expect(authority.verify(token, as: LinkTokenClaims.self) == claims)
        let other = TokenAuthority(key: HubKey(signing: Curve25519.Signing.PrivateKey()))
        #expect(other.verify(token, as: LinkTokenClaims.self) == nil)
        let parts = token.split(separator: ".").map(String.init)
        let forged = Base64URL.encode(
            Array(#"{"kind":"link","sub":"u/root","jti":"abc","iat":1000,"exp":9999999999}"#.utf8))
        let none = Base64URL.encode(Array(#"{"alg":"none","typ":"JWT"}"#.utf8))
        for bad in [
            "\(parts[0]).\(forged).\(parts[2])", "\(none).\(parts[1]).", "\(none).\(parts[1]).\(parts[2])",
            "\(parts[0]).\(parts[1])", "", "..", "a.b.c", token + "x", String(repeating: "a", count: 10_000),
        ] {
            #expect(authority.verify(bad, as: LinkTokenClaims.self) == nil, "\(bad.prefix(40))")
        }
    }

    @Test("A token of one kind is not valid as another, even with the same claim names")
    func kind() throws {
        let token = try authority.sign(APITokenClaims(sub: "u/owner", jti: "abc", iat: 1_000, exp: 2_000))
        #expect(authority.verify(token, as: APITokenClaims.self) != nil)
        #expect(authority.verify(token, as: LinkTokenClaims.self) == nil)
    }

    @Test("The key is created once, readable only by its owner, and never replaced")
    func keyFile() throws {
        let directory = TemporaryDirectory()
        let first = try HubKey(dataDirectory: directory.path)
        #expect(try HubKey(dataDirectory: directory.path).publicText == first.publicText)
        let path = directory.path + "/keys/signing.pem"
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(throws: IoTError.self) { _ = try HubKey(dataDirectory: directory.path) }
        try PrivateFile.write("rubbish", to: path)
        #expect(throws: IoTError.self) { _ = try HubKey(dataDirectory: directory.path) }
        #expect(try PrivateFile.text(of: path) == "rubbish")
    }

    @Test("The broker's hash is one round of PBKDF2-HMAC-SHA512")
    func brokerHash() {
        // hashlib.pbkdf2_hmac("sha512", b"password", b"salt" * 3, 1, 64) of Python 3.11.
        #expect(
            BrokerCredential.hash(token: "password", salt: Array("saltsaltsalt".utf8))
                == "fKzJhmKAkXtqaMN2Bf7dAgPrwH16PXPKTFrM6OeqrhJoHyA2h61gDK2oZ/MXAum4APNYugo8UYIlEJsPP3NpFw==")
    }

    @Test("Base64url round-trips, and other text is refused")
    func base64() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + 200) }
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
        #expect(Base64URL.encode([0xFB, 0xFF]) == "-_8")
        #expect(Base64URL.decode("+/8") == nil)
        #expect(Base64URL.decode("a b") == nil)
    }
}
