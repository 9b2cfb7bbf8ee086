import IoTCore
import Testing

@testable import RTSP

@Suite struct AuthenticationTests {
    private static let user = BasicCredentials(username: "viewer", password: "se:cret")
    private static let url = "rtsp://192.0.2.7/front"

    private static func server(_ algorithms: [DigestAlgorithm] = [.sha256, .md5]) -> ResponseAuthentication {
        ResponseAuthentication(realm: "iotvideod", algorithms: algorithms) { Hex.random(byteCount: 16) }
    }

    private func request(
        _ client: inout RequestAuthentication, _ method: RTSPMethod = .describe, _ uri: String = url
    ) -> RTSPRequest {
        var request = RTSPRequest(method, uri)
        request.headers[RTSPHeaderName.authorization] = client.authorization(
            method: method, uri: uri, clientNonce: "0123456789abcdef")
        return request
    }

    private func check(
        _ server: inout ResponseAuthentication, _ request: RTSPRequest, password: String = user.password
    ) throws(ResponseAuthentication.Failure) {
        let authorization = try server.authorization(of: request)
        let secret = authorization.algorithm.secret(username: "viewer", realm: "iotvideod", password: password)
        try server.check(request, authorization, secret: authorization.username == "viewer" ? secret : nil)
    }

    private func take(_ client: inout RequestAuthentication, _ challenges: [String], wasAuthorized: Bool) -> Bool {
        client.takeChallenges(challenges, wasAuthorized: wasAuthorized)
    }

    @Test("Our server accepts our client's answers", arguments: [[DigestAlgorithm.md5], [.sha256, .md5]])
    func bothSides(algorithms: [DigestAlgorithm]) throws {
        var (server, client) = (Self.server(algorithms), RequestAuthentication(Self.user))
        let first = request(&client)
        #expect(throws: ResponseAuthentication.Failure.absent) { try check(&server, first) }
        #expect(take(&client, server.challenges(isStale: false), wasAuthorized: false))
        for method in [RTSPMethod.describe, .setup, .play] { try check(&server, request(&client, method)) }
        let (wrong, foreign) = (request(&client), request(&client, .play, "rtsp://192.0.2.7/garden"))
        #expect(throws: ResponseAuthentication.Failure.wrong) { try check(&server, wrong, password: "other") }
        var moved = foreign
        moved.uri = Self.url
        #expect(throws: ResponseAuthentication.Failure.wrong) { try check(&server, moved) }
    }

    @Test("A replayed request is stale, and the server then uses another nonce")
    func replay() throws {
        var (server, client) = (Self.server(), RequestAuthentication(Self.user))
        _ = client.takeChallenges(server.challenges(isStale: false), wasAuthorized: false)
        let once = request(&client)
        try check(&server, once)
        let challenges = server.challenges(isStale: false)
        #expect(throws: ResponseAuthentication.Failure.stale) { try check(&server, once) }
        #expect(server.challenges(isStale: false) != challenges)
        #expect(take(&client, server.challenges(isStale: true), wasAuthorized: true))
        try check(&server, request(&client))
    }

    @Test("A nonce of another connection is stale, whether the password is correct or not")
    func otherConnection() {
        var (first, second) = (Self.server(), Self.server())
        var client = RequestAuthentication(BasicCredentials(username: "nobody", password: "x"))
        _ = client.takeChallenges(first.challenges(isStale: false), wasAuthorized: false)
        let request = request(&client)
        #expect(throws: ResponseAuthentication.Failure.stale) { try check(&second, request) }
        #expect(throws: ResponseAuthentication.Failure.wrong) { try check(&first, request) }
    }

    @Test(
        "The signed URL may be the requested URL, its path, or the URL of the track's stream",
        arguments: [
            ("rtsp://192.0.2.7/front", "rtsp://192.0.2.7/front", true),
            ("rtsp://192.0.2.7/front/", "rtsp://192.0.2.7/front/trackID=0", true),
            ("rtsp://192.0.2.7/front", "rtsp://192.0.2.7/front/trackID=0", true),
            ("/front", "rtsp://192.0.2.7/front", true),
            ("rtsp://192.0.2.7/front", "rtsp://192.0.2.7/front2", false),
            ("rtsp://192.0.2.7/", "rtsp://192.0.2.7/front", false),
            ("", "rtsp://192.0.2.7/front", false),
        ])
    func signedURL(signed: String, requested: String, isAccepted: Bool) throws {
        var (server, client) = (Self.server(), RequestAuthentication(Self.user))
        _ = client.takeChallenges(server.challenges(isStale: false), wasAuthorized: false)
        var request = request(&client, .setup, signed)
        request.uri = requested
        if isAccepted {
            try check(&server, request)
        } else {
            #expect(throws: ResponseAuthentication.Failure.wrong) { try check(&server, request) }
        }
    }

    @Test("A request is repeated after a stale nonce, not after wrong credentials")
    func attempts() {
        let (one, two) = (["Digest realm=x, nonce=1"], ["Digest realm=x, nonce=2"])
        let stale = (3...9).map { ["Digest realm=x, nonce=\($0), stale=true"] }
        var client = RequestAuthentication(Self.user)
        let unasked = client.authorization(method: .play, uri: "*", clientNonce: "c")
        #expect(unasked == nil)
        #expect(take(&client, one, wasAuthorized: false))
        let asked = client.authorization(method: .play, uri: "*", clientNonce: "c")
        #expect(asked != nil)
        #expect(!take(&client, two, wasAuthorized: true))

        client = RequestAuthentication(Self.user)
        #expect(take(&client, one, wasAuthorized: false))
        client.succeeded()
        #expect(take(&client, two, wasAuthorized: true))
        #expect(!take(&client, two, wasAuthorized: true))

        client = RequestAuthentication(Self.user)
        #expect(take(&client, one, wasAuthorized: false))
        let answers = stale.map { client.takeChallenges($0, wasAuthorized: true) }
        #expect(answers == [true, true, true, true, false, false, false])

        client = RequestAuthentication(nil)
        #expect(!take(&client, one, wasAuthorized: false) && client.lacksCredentials)
    }

    @Test("Each use of a nonce has the next count")
    func counts() {
        var client = RequestAuthentication(Self.user)
        _ = client.takeChallenges(["Digest realm=x, nonce=1, qop=\"auth\""], wasAuthorized: false)
        let counts = (0..<3).map { _ -> UInt32? in
            let text = client.authorization(method: .play, uri: "*", clientNonce: "c") ?? ""
            return DigestAuthorization(text)?.use?.count
        }
        #expect(counts == [1, 2, 3])
    }

    @Test("Basic is used only if the server offers nothing better (RFC 7617 §2)")
    func basic() throws {
        var client = RequestAuthentication(BasicCredentials(username: "Aladdin", password: "open sesame"))
        #expect(take(&client, [BasicCredentials.challenge(realm: "x")], wasAuthorized: false))
        let text = client.authorization(method: .play, uri: "*", clientNonce: "c")
        #expect(text == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(!take(&client, ["basic"], wasAuthorized: true))
        #expect(take(&client, ["Basic realm=x", "Digest realm=x, nonce=1"], wasAuthorized: false))
        let better = client.authorization(method: .play, uri: "*", clientNonce: "c")
        #expect(better?.hasPrefix("Digest ") == true)
        #expect(!take(&client, ["Bearer x", "Basics x"], wasAuthorized: false))
        let read = try #require(BasicCredentials(Self.user.text))
        #expect(read == Self.user)
        for wrong in ["Basic", "Basic !!", "Basic QQ==", "Digest QTpC", "Basic /zr/"] {
            #expect(BasicCredentials(wrong) == nil, "\(wrong)")
        }
    }

    @Test("Printed credentials are redacted")
    func secrets() {
        var text = ""
        dump(Self.user, to: &text)
        #expect(!"\(Self.user) \(String(reflecting: Self.user)) \(text)".contains("cret"))
    }
}
