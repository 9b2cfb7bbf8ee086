import IoTCore
import NIOCore
import RTP

@testable import RTSP

/// A player and its connection of the server, in virtual time. The properties determine the results of logins, streams
/// and transports.
final class VirtualPlayer {
    var connection: RTSPServerConnection
    private(set) var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    var key = "0123456789"
    var password = "the key"
    var stream: Result<ServedStream, RTSPRefusal> = .success(
        ServedStream(
            name: "front",
            tracks: [
                RTPCodec(payloadType: 96, encodingName: "H264", clockRate: 90_000),
                RTPCodec(payloadType: 97, encodingName: "opus", clockRate: 48_000, channels: 2),
            ]))
    var setUp: Result<TransportHeader.Pair<UInt16>?, RTSPRefusal> = .success(TransportHeader.Pair(6_970, 6_971))
    /// The connection's outputs, in order: `send 200`, `open front`, …
    private(set) var log: [String] = []
    private(set) var responses: [RTSPResponse] = []
    private(set) var answered: [AnsweredRequest] = []
    private var parser = RTSPParser(limits: .client)
    private var authentication: RequestAuthentication
    private var cseq: UInt32 = 0

    static let url = "rtsp://192.0.2.1:8554/front"

    init(allowsDatagrams: Bool = true, limits: RTSPServerLimits = RTSPServerLimits(), password: String = "the key") {
        connection = RTSPServerConnection(
            localAddress: IPAddress("192.0.2.1")!, peer: IPAddress("192.0.2.7"), allowsDatagrams: allowsDatagrams,
            limits: limits, at: now)
        authentication = RequestAuthentication(BasicCredentials(username: "0123456789", password: password))
    }

    func pass(_ time: TimeAmount) {
        now = now + time
        handle(.timeout)
    }

    /// Advances to the connection's next deadline.
    func passToTimeout() {
        guard let timeout = connection.timeout else { return }
        now = timeout
        handle(.timeout)
    }

    func handle(_ input: RTSPServerConnection.Input) {
        connection.handle(input, at: now)
        while let output = connection.poll() { perform(output) }
    }

    private func perform(_ output: RTSPServerConnection.Output) {
        switch output {
        case .send(let bytes):
            parser.receive(bytes)
            while case .response(let response)? = try? parser.next() {
                log.append("send \(response.status.rawValue)")
                responses.append(response)
            }
        case .answered(let request): answered.append(request)
        case .authenticate(let authorization, let method, let pause):
            if pause > .zero { log.append("pause \(pause.nanoseconds / 1_000_000)") }
            let secret = authorization.algorithm.secret(
                username: key, realm: RTSPServerConnection.realm, password: password)
            let isProven = authorization.isProof(of: secret, method: method.rawValue)
            connection.handle(
                .authenticated(isProven ? .success(()) : .failure(RTSPRefusal(.unauthorized, code: 25_004))), at: now)
        case .open(let path):
            log.append("open \(path.name)")
            connection.handle(.opened(stream), at: now)
        case .setUp(_, let track):
            log.append("setUp \(track.index)")
            connection.handle(.isSetUp(setUp), at: now)
        case .prepare:
            let starts = [ServedTrackStart(index: 0, sequenceNumber: 7, timestamp: 9_000)]
            connection.handle(.isPrepared(.success(starts)), at: now)
        case .play: log.append("play")
        case .pause: log.append("pause")
        case .leave: log.append("leave")
        case .report(let track, let bytes): log.append("report \(track) \(bytes.readableBytes)")
        case .close: log.append("close")
        }
    }

    /// The bytes of a request, with an authorization after the server's challenge.
    func bytes(
        _ method: RTSPMethod, _ uri: String = VirtualPlayer.url, _ headers: KeyValuePairs<String, String> = [:]
    ) -> ByteBuffer {
        var request = RTSPRequest(method, uri, headers: RTSPHeaders(headers))
        cseq += 1
        request.headers.cseq = cseq
        request.headers[RTSPHeaderName.authorization] = authentication.authorization(
            method: method, uri: uri, clientNonce: "c\(cseq)")
        var buffer = ByteBuffer()
        request.write(into: &buffer)
        return buffer
    }

    /// Sends a request, and repeats it after a challenge.
    @discardableResult
    func request(
        _ method: RTSPMethod, _ uri: String = VirtualPlayer.url, _ headers: KeyValuePairs<String, String> = [:]
    ) -> RTSPResponse? {
        var wasAuthorized = false
        for _ in 0..<8 {
            let count = responses.count
            handle(.received(bytes(method, uri, headers)))
            guard responses.count > count, let response = responses.last else { return nil }
            guard response.status == .unauthorized,
                authentication.takeChallenges(response.headers.challenges, wasAuthorized: wasAuthorized)
            else { return response }
            wasAuthorized = true
        }
        return responses.last
    }

    /// Sends DESCRIBE, and SETUP for both tracks.
    func setUpTracks(_ transport: String = "RTP/AVP/TCP;unicast;interleaved=0-1") -> String {
        request(.describe)
        let first = request(.setup, Self.url + "/trackID=0", ["Transport": transport])
        return first?.headers.session?.identifier ?? "-"
    }
}
