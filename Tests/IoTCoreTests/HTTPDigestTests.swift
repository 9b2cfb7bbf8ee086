import Testing

@testable import IoTCore

/// RFC 7616 §3.9.1.
@Suite struct HTTPDigestTests {
    private static let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
    private static let opaque = "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
    private static let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"

    private static func challenge(_ algorithm: DigestAlgorithm) -> String {
        "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=\(algorithm.rawValue), "
            + "nonce=\"\(nonce)\", opaque=\"\(opaque)\""
    }

    private static let vectors: [(DigestAlgorithm, String)] = [
        (.md5, "8ca523f5e9506fed4657c9700eebdbec"),
        (.sha256, "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ]

    @Test(
        "The answer to a challenge is the RFC's example, and the server accepts it",
        arguments: vectors)
    func bothSides(algorithm: DigestAlgorithm, response: String) throws {
        let digest = try #require(HTTPDigest(Self.challenge(algorithm)))
        #expect(digest.realm == "http-auth@example.org" && digest.algorithm == algorithm && !digest.isStale)
        let text = digest.authorization(
            username: "Mufasa", password: "Circle of Life", method: "GET", uri: "/dir/index.html",
            clientNonce: Self.clientNonce)
        #expect(text.contains("response=\"\(response)\"") && text.contains("qop=auth, nc=00000001"))

        let authorization = try #require(DigestAuthorization(text))
        #expect(authorization.use == DigestNonceUse(count: 1, clientNonce: Self.clientNonce))
        #expect(authorization.text == text)
        let secret = algorithm.secret(
            username: "Mufasa", realm: "http-auth@example.org", password: "Circle of Life")
        #expect(authorization.isProof(of: secret, method: "GET"))
        #expect(!authorization.isProof(of: secret, method: "PUT"))
        #expect(!authorization.isProof(of: String(secret.dropLast()), method: "GET"))
        var changed = authorization
        changed.uri = "/other"
        #expect(!changed.isProof(of: secret, method: "GET"))
    }

    @Test("RFC 2069's form has neither a count nor a client nonce")
    func old() throws {
        let digest = try #require(HTTPDigest("digest realm=IPC,nonce=\"a\\\"b\" ,stale=TRUE"))
        #expect(digest == HTTPDigest(realm: "IPC", nonce: "a\"b", isStale: true))
        let text = digest.authorization(
            username: "a", password: "b", method: "PLAY", uri: "rtsp://h/", clientNonce: "c")
        let authorization = try #require(DigestAuthorization(text))
        #expect(authorization.use == nil && authorization.nonce == "a\"b")
        #expect(authorization.isProof(of: DigestAlgorithm.md5.hash("a:IPC:b"), method: "PLAY"))
    }

    @Test("A written challenge parses to the same value")
    func written() {
        for digest in [
            HTTPDigest(realm: "a \"b\"", nonce: "n"),
            HTTPDigest(realm: "r", nonce: "n", opaque: "o", algorithm: .sha256, hasQuality: true, isStale: true),
        ] { #expect(HTTPDigest(digest.text) == digest) }
    }

    @Test("SHA-256 is preferred, and unknown challenges are ignored")
    func choice() {
        let challenges = ["Basic realm=\"x\"", "Digest realm=x, nonce=1", "Digest realm=x, nonce=2, algorithm=sha-256"]
        #expect(HTTPDigest.best(challenges)?.nonce == "2")
        #expect(HTTPDigest.best(Array(challenges.prefix(2)))?.nonce == "1")
        for text in [
            "Digest realm=x", "Digest nonce=1", "Digest realm=x, nonce=1, algorithm=SHA-512-256",
            "Digest realm=x, nonce=1, qop=auth-int", "Digestrealm=x, nonce=1", "", "Digest",
            "Digest realm=x, nonce=" + String(repeating: "1", count: 3_000),
        ] { #expect(HTTPDigest(text) == nil, "\(text)") }
    }

    @Test(
        "An authorization with a missing or malformed part is refused",
        arguments: [
            "Basic QTpC", "Digest username=a, realm=b, nonce=c, uri=d",
            "Digest username=a, realm=b, nonce=c, uri=d, response=e, algorithm=MD5-sess",
            "Digest username=a, realm=b, nonce=c, uri=d, response=e, qop=auth, nc=123456789, cnonce=f",
            "Digest username=a, realm=b, nonce=c, uri=d, response=e, qop=auth, nc=-1, cnonce=f",
            "Digest username=a, realm=b, nonce=c, uri=d, response=e, qop=auth-int, nc=00000001, cnonce=f",
            "Digest username=a, realm=b, nonce=c, uri=d, response=e, qop=auth",
        ])
    func malformed(text: String) {
        #expect(DigestAuthorization(text) == nil)
    }

    @Test("A count has eight digits")
    func count() {
        #expect(DigestNonceUse(count: 1, clientNonce: "").countText == "00000001")
        #expect(DigestNonceUse(count: .max, clientNonce: "").countText == "ffffffff")
    }
}
