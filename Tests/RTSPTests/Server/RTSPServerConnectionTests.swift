import IoTCore
import NIOCore
import RTP
import Testing

@testable import RTSP

/// The server's side of RFC 2326, with logins of RFC 7616.
@Suite("A connection of the RTSP server")
struct RTSPServerConnectionTests {
    private static let url = VirtualPlayer.url
    private static let tcp = "RTP/AVP/TCP;unicast;interleaved=0-1"

    @Test("In a session over TCP, each request has its response, and media start after the response to PLAY")
    func wholeSession() throws {
        let player = VirtualPlayer()
        #expect(player.request(.options)?.headers[RTSPHeaderName.isPublic]?.contains("DESCRIBE") == true)
        let description = try #require(player.request(.describe))
        #expect(description.headers[RTSPHeaderName.contentBase] == Self.url + "/")
        let read = try StreamDescription(parsing: String(buffer: description.body))
        #expect(read.tracks.map(\.control) == ["trackID=0", "trackID=1"] && read.control == "*")
        #expect(read.tracks.map { $0.codec?.encodingName } == ["H264", "opus"])
        let first = try #require(player.request(.setup, Self.url + "/trackID=0", ["Transport": Self.tcp]))
        let session = try #require(first.headers.session)
        #expect(session.timeout == 60 && first.headers.transports.first?.interleaved == .init(0, 1))
        let second = player.request(
            .setup, Self.url + "/trackID=1",
            ["Transport": "RTP/AVP/TCP;unicast;interleaved=2-3", "Session": session.identifier])
        #expect(second?.status == .ok)
        let played = try #require(
            player.request(.play, Self.url + "/", ["Session": session.identifier, "Range": "npt=0.000-"]))
        #expect(played.headers[RTSPHeaderName.range] == "npt=now-")
        #expect(played.headers.rtpInfo == [RTPInfo(url: Self.url + "/trackID=0", sequenceNumber: 7, timestamp: 9_000)])
        #expect(player.log.suffix(2) == ["send 200", "play"])
        #expect(player.request(.pause, Self.url, ["Session": session.identifier])?.status == .ok)
        #expect(player.request(.getParameter, Self.url, ["Session": session.identifier])?.status == .ok)
        #expect(player.request(.teardown, Self.url, ["Session": session.identifier])?.status == .ok)
        #expect(player.log.suffix(2) == ["leave", "send 200"])
        #expect(player.request(.play, Self.url, ["Session": session.identifier])?.status == .sessionNotFound)
    }

    struct Refused: CustomTestStringConvertible, Sendable {
        var name: String
        var method: RTSPMethod
        var uri = VirtualPlayer.url
        var headers: [String: String] = [:]
        var status: RTSPStatus
        var testDescription: String { name }
    }

    @Test(
        "A refused request gets its status",
        arguments: [
            Refused(name: "a publisher", method: .announce, status: .methodNotAllowed),
            Refused(name: "a recorder", method: .record, status: .methodNotAllowed),
            Refused(name: "an unknown method", method: RTSPMethod(rawValue: "FETCH"), status: .notImplemented),
            Refused(
                name: "a back channel", method: .describe, headers: ["Require": RTSPOption.backChannel],
                status: .optionNotSupported),
            Refused(
                name: "another format", method: .describe, headers: ["Accept": "application/mheg"],
                status: .notAcceptable),
            Refused(name: "no name", method: .describe, uri: "rtsp://192.0.2.1/", status: .notFound),
            Refused(name: "an unknown path", method: .describe, uri: "rtsp://192.0.2.1/a/b/c", status: .notFound),
            Refused(
                name: "a description of a track", method: .describe, uri: url + "/trackID=0",
                status: .aggregateNotAllowed),
            Refused(
                name: "an unknown track", method: .setup, uri: url + "/trackID=9", headers: ["Transport": tcp],
                status: .notFound),
            Refused(
                name: "no track", method: .setup, headers: ["Transport": tcp], status: .aggregateNotAllowed),
            Refused(
                name: "multicast", method: .setup, uri: url + "/trackID=0",
                headers: ["Transport": "RTP/AVP;multicast;port=5000-5001"], status: .unsupportedTransport),
            Refused(
                name: "UDP to another host", method: .setup, uri: url + "/trackID=0",
                headers: ["Transport": "RTP/AVP;unicast;client_port=5000-5001;destination=192.0.2.99"],
                status: .unsupportedTransport),
            Refused(
                name: "UDP to ports below 1024", method: .setup, uri: url + "/trackID=0",
                headers: ["Transport": "RTP/AVP;unicast;client_port=52-53"], status: .unsupportedTransport),
            Refused(
                name: "SRTP without keys", method: .setup, uri: url + "/trackID=0",
                headers: ["Transport": "RTP/SAVP;unicast;client_port=5000-5001"], status: .unsupportedTransport),
            Refused(
                name: "sending", method: .setup, uri: url + "/trackID=0",
                headers: ["Transport": tcp + ";mode=RECORD"], status: .unsupportedTransport),
            Refused(name: "PLAY before SETUP", method: .play, status: .sessionNotFound),
            Refused(
                name: "another's session", method: .play, headers: ["Session": "abc"], status: .sessionNotFound),
        ])
    func refused(row: Refused) {
        let player = VirtualPlayer()
        player.request(.describe, "rtsp://192.0.2.1/side")
        let fields = row.headers.first.map { KeyValuePairs(dictionaryLiteral: ($0.key, $0.value)) } ?? [:]
        #expect(player.request(row.method, row.uri, fields)?.status == row.status)
        #expect(!player.log.contains("play") && player.connection.session == nil)
        #expect(player.request(.options)?.status == .ok, "the connection continues")
    }

    @Test("A connection has one session, with aggregate control and only ranges of live streams")
    func withinSession() throws {
        let player = VirtualPlayer()
        let session = player.setUpTracks()
        func status(
            _ method: RTSPMethod, _ path: String, _ headers: KeyValuePairs<String, String>
        ) -> RTSPStatus? { player.request(method, Self.url + path, headers)?.status }
        #expect(status(.setup, "/trackID=1", ["Transport": Self.tcp]) == .methodNotValidInState)
        #expect(
            status(.setup, "/trackID=0", ["Transport": Self.tcp, "Session": session])
                == .methodNotValidInState)
        // The first track uses these channels, so the second track gets others.
        let second = player.request(
            .setup, Self.url + "/trackID=1", ["Transport": Self.tcp, "Session": session])
        #expect(second?.headers.transports.first?.interleaved == .init(2, 3))
        #expect(status(.play, "/trackID=0", ["Session": session]) == .onlyAggregateAllowed)
        #expect(
            player.request(.play, "rtsp://192.0.2.1/side", ["Session": session])?.status == .aggregateNotAllowed)
        #expect(status(.play, "", ["Session": session, "Range": "npt=5-10"]) == .invalidRange)
        #expect(status(.play, "", ["Session": session, "Range": "clock=20260101T000000Z-"]) == .invalidRange)
        #expect(status(.play, "", ["Session": session]) == .ok)
        #expect(
            status(.setup, "/trackID=1", ["Transport": Self.tcp, "Session": session]) == .methodNotValidInState)
        #expect(status(.play, "", ["Session": session]) == .ok, "a repeated PLAY changes nothing")
        #expect(player.log.filter { $0 == "play" }.count == 1)
    }

    @Test("UDP is sent only to the player's own address, and not for encrypted connections")
    func datagrams() throws {
        let player = VirtualPlayer()
        player.request(.describe)
        let response = try #require(
            player.request(
                .setup, Self.url + "/trackID=0", ["Transport": "RTP/AVP;unicast;client_port=5000-5001"]))
        let transport = try #require(response.headers.transports.first)
        #expect(transport.serverPorts == .init(6_970, 6_971) && transport.clientPorts == .init(5_000, 5_001))
        let encrypted = VirtualPlayer(allowsDatagrams: false)
        encrypted.request(.describe)
        // The player's second choice is used.
        let other = encrypted.request(
            .setup, Self.url + "/trackID=0", ["Transport": "RTP/AVP;unicast;client_port=5000-5001," + Self.tcp])
        #expect(other?.headers.transports.first?.lowerTransport == .tcp)
    }

    @Test("Requests in one write or divided into bytes get the same responses in order")
    func arbitraryCuts() {
        func play(cut: Bool) -> [String] {
            let player = VirtualPlayer()
            let session = player.setUpTracks()
            var bytes = player.bytes(.getParameter, Self.url, ["Session": session])
            bytes.writeImmutableBuffer(player.bytes(.play, Self.url, ["Session": session]))
            bytes.writeBytes([UInt8(ascii: "$"), 1, 0, 3, 1, 2, 3])
            bytes.writeImmutableBuffer(player.bytes(.pause, Self.url, ["Session": session]))
            if cut {
                while let byte = bytes.readSlice(length: 1) { player.handle(.received(byte)) }
            } else {
                player.handle(.received(bytes))
            }
            return player.log
        }
        #expect(play(cut: false) == play(cut: true))
        #expect(play(cut: true).suffix(5) == ["send 200", "play", "report 0 3", "pause", "send 200"])
    }

    // MARK: Login

    @Test("Without a login, only OPTIONS is answered, and no camera is looked up")
    func loginFirst() throws {
        let player = VirtualPlayer(password: "wrong")
        #expect(player.request(.options)?.status == .ok)
        let refused = try #require(player.request(.describe))
        #expect(refused.status == .unauthorized)
        let challenges = refused.headers.challenges.compactMap { HTTPDigest($0) }
        // FFmpeg uses the last challenge and supports only MD5.
        #expect(challenges.map(\.algorithm) == [.sha256, .md5])
        #expect(challenges.allSatisfy { $0.hasQuality && $0.realm == "iotvideod" })
        #expect(!player.log.contains("open front"))
    }

    @Test("The pause before a login doubles, and the fourth wrong login ends the connection")
    func wrongLogins() {
        let player = VirtualPlayer(password: "wrong")
        player.request(.describe)
        for _ in 0..<3 { player.handle(.received(player.bytes(.describe))) }
        #expect(player.log.filter { $0.hasPrefix("pause") } == ["pause 250", "pause 500", "pause 1000"])
        #expect(player.log.last == "close" && player.connection.isClosed)
    }

    @Test("The nonce of another connection is stale")
    func staleNonces() throws {
        let first = VirtualPlayer()
        first.request(.describe)
        let second = VirtualPlayer()
        second.handle(.received(first.bytes(.describe)))
        let challenge = try #require(second.responses.last?.headers.challenges.last.flatMap { HTTPDigest($0) })
        #expect(second.responses.last?.status == .unauthorized && challenge.isStale)
        #expect(second.connection.wrongLogins == 0)
    }

    @Test("A connection serves only the key that logged in")
    func oneUser() {
        let player = VirtualPlayer()
        player.request(.describe)
        var request = RTSPRequest(.describe, Self.url)
        request.headers.cseq = 90
        request.headers[RTSPHeaderName.authorization] =
            DigestAuthorization(
                username: "abcdef0123", realm: "iotvideod", nonce: "n", uri: Self.url, algorithm: .md5, opaque: nil,
                use: nil, response: String(repeating: "0", count: 32)
            ).text
        var bytes = ByteBuffer()
        request.write(into: &bytes)
        player.handle(.received(bytes))
        #expect(player.responses.last?.status == .forbidden)
    }

    // MARK: Limits

    @Test("Too many requests before the login end the connection")
    func floodBeforeLogin() {
        let player = VirtualPlayer()
        for _ in 0..<21 { player.handle(.received(player.bytes(.options))) }
        #expect(player.log.suffix(2) == ["send 503", "close"])
        #expect(player.responses.count == 21)
    }

    @Test("A burst of requests after the login ends the connection; a steady rate does not")
    func floodAfterLogin() {
        let steady = VirtualPlayer()
        steady.request(.describe)
        for _ in 0..<300 {
            steady.pass(.milliseconds(200))
            steady.request(.getParameter)
        }
        #expect(!steady.connection.isClosed)
        let player = VirtualPlayer()
        player.request(.describe)
        for _ in 0..<100 { player.handle(.received(player.bytes(.options))) }
        #expect(player.log.last == "close")
    }

    @Test("A connection without a login, with a slow request or without requests is closed")
    func deadlines() {
        let silent = VirtualPlayer()
        silent.pass(.seconds(29))
        #expect(!silent.connection.isClosed)
        silent.pass(.seconds(1))
        #expect(silent.log == ["close"])
        let slow = VirtualPlayer()
        slow.request(.describe)
        for byte in Array("OPTIONS".utf8) {
            slow.handle(.received(ByteBuffer(bytes: [byte])))
            slow.pass(.milliseconds(1_500))
        }
        #expect(slow.log.last == "close")
        let idle = VirtualPlayer()
        idle.request(.describe)
        idle.pass(.seconds(59))
        #expect(!idle.connection.isClosed)
        idle.passToTimeout()
        #expect(idle.log.last == "close" && idle.connection.timeout == nil)
    }

    @Test("A session over UDP ends 60 s after the last request or report; a playing one over TCP does not")
    func sessionTimeouts() {
        let player = VirtualPlayer()
        let session = player.setUpTracks("RTP/AVP;unicast;client_port=5000-5001")
        player.request(.play, Self.url, ["Session": session])
        for _ in 0..<10 {
            player.pass(.seconds(50))
            player.handle(.reported)
        }
        #expect(!player.connection.isClosed)
        player.pass(.seconds(59))
        #expect(!player.connection.isClosed)
        player.pass(.seconds(1))
        #expect(player.log.suffix(2) == ["leave", "close"])
        let other = VirtualPlayer()
        let playing = other.setUpTracks()
        other.request(.play, Self.url, ["Session": playing])
        other.pass(.hours(1))
        #expect(!other.connection.isClosed)
        other.request(.pause, Self.url, ["Session": playing])
        other.pass(.seconds(60))
        #expect(other.log.suffix(2) == ["leave", "close"])
    }

    @Test("If the camera ends the stream, session and connection end")
    func cameraEnds() {
        let player = VirtualPlayer()
        let session = player.setUpTracks()
        player.request(.play, Self.url, ["Session": session])
        player.handle(.ended)
        #expect(player.log.suffix(2) == ["leave", "close"] && player.connection.isClosed)
        #expect(player.request(.options) == nil)
    }

    @Test("The player gets the gateway's reason for a refusal")
    func reasons() {
        let player = VirtualPlayer()
        player.stream = .failure(RTSPRefusal(.notFound, "8002 targetNotFound"))
        let response = player.request(.describe)
        #expect(response?.status == .notFound && response?.reason == "Not Found (8002 targetNotFound)")
        player.stream = VirtualPlayer().stream
        player.setUp = .failure(RTSPRefusal(.notEnoughBandwidth))
        #expect(
            player.request(.setup, Self.url + "/trackID=0", ["Transport": Self.tcp])?.status == .notEnoughBandwidth)
        #expect(player.connection.session == nil)
    }

    @Test("Bytes that are not RTSP get one response and end the connection")
    func malformed() {
        let player = VirtualPlayer()
        player.handle(.received(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: x\r\n\r\n")))
        #expect(player.log == ["send 505", "close"])
    }

    @Test("The bytes that a client sends while a request is handled are limited")
    func heldBytes() {
        let now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        let login = VirtualPlayer()
        login.request(.describe)
        var connection = login.connection
        connection.handle(.received(login.bytes(.describe, "rtsp://192.0.2.1/side")), at: now)
        #expect(connection.isWaiting)
        for _ in 0..<64 {
            connection.handle(.received(ByteBuffer(repeating: UInt8(ascii: "a"), count: 2_000)), at: now)
        }
        #expect(connection.isClosed)
    }

    @Test("Each answered request is reported with its error, except a 401 that only asks for the login")
    func answered() {
        let player = VirtualPlayer()
        player.request(.options)
        player.request(.describe)
        player.stream = .failure(RTSPRefusal(.forbidden, "no", code: 25_005))
        player.request(.describe)
        player.request(.record)
        #expect(player.answered.map(\.status) == [.ok, .ok, .forbidden, .methodNotAllowed])
        #expect(player.answered.map(\.code) == [0, 0, 25_005, 0])
        #expect(player.answered.map(\.method) == [.options, .describe, .describe, .record])
        let stranger = VirtualPlayer(password: "wrong")
        stranger.request(.describe)
        #expect(stranger.answered.map(\.status) == [.unauthorized] && stranger.answered.map(\.code) == [25_004])
    }
}
