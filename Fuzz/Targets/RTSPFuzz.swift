import IoTCore
import NIOCore
import RTP

@testable import RTSP

extension FuzzTarget {
    /// The messages do not depend on how the bytes are cut; a written message parses to the same value.
    static let rtspRequest = FuzzTarget(
        "rtsp-request", cost: ReadingCost { input in _ = RTSPStream(input, cuts: [], limits: .server) }
    ) { input in
        let whole = try checkMessages(input, limits: .server)
        for case .request(let request) in whole.messages { try checkHeaders(request.headers) }
    }

    static let rtspResponse = FuzzTarget(
        "rtsp-response", cost: ReadingCost { input in _ = RTSPStream(input, cuts: [], limits: .client) }
    ) { input in
        let whole = try checkMessages(input, limits: .client)
        for case .response(let response) in whole.messages { try checkHeaders(response.headers) }
    }

    /// Interleaved frames between messages. A client makes few outputs for them.
    static let rtspFrames = FuzzTarget(
        "rtsp-frames", cost: ReadingCost { input in _ = RTSPClientRun(input) }
    ) { input in
        let whole = try checkMessages(input, limits: .client)
        let size = whole.messages.reduce(0) { size, message in
            if case .frame(let frame) = message { size + 4 + frame.payload.readableBytes } else { size }
        }
        try require(size <= input.count, "the frames are longer than the input")
        try RTSPClientRun(input).check(input)
    }

    /// A written description parses to the same value.
    static let rtspDescription = FuzzTarget(
        "rtsp-description",
        cost: ReadingCost { input in _ = try? StreamDescription(parsing: String(decoding: input, as: UTF8.self)) }
    ) { input in
        guard let stream = try? StreamDescription(parsing: String(decoding: input, as: UTF8.self)),
            let address = IPAddress("192.0.2.1")
        else { return }
        try require(stream.tracks.count <= StreamDescription.maximumTracks, "\(stream.tracks.count) tracks")
        for track in stream.tracks {
            _ = track.codec?.trackParameters
            let url = ControlURL.resolve(track.control, base: "rtsp://192.0.2.1/a")
            try require(url.utf8.starts(with: "rtsp://192.0.2.1".utf8), "a track at another host: \(url)")
        }
        let text = stream.text(address: address, sessionID: 1)
        let again = try StreamDescription(parsing: text)
        let twice = again.text(address: address, sessionID: 1)
        try require(twice == text, "written:\n\(text)\nread again:\n\(twice)")
    }

    /// A written challenge or authorization parses to the same value; a random response is never accepted.
    static let rtspDigest = FuzzTarget(
        "rtsp-digest",
        cost: ReadingCost(size: AuthenticationParameters.maximumSize) { input in
            let text = String(decoding: input, as: UTF8.self)
            _ = HTTPDigest(text)
            _ = DigestAuthorization(text)
        }
    ) { input in
        let text = String(decoding: input, as: UTF8.self)
        if let digest = HTTPDigest(text), digest.text.utf8.count <= AuthenticationParameters.maximumSize {
            let again = HTTPDigest(digest.text)
            try require(again?.text == digest.text, "\(digest.text) became \(again?.text ?? "nothing")")
            var client = RequestAuthentication(BasicCredentials(username: "a", password: "b"))
            _ = client.takeChallenges([text], wasAuthorized: false)
            let answer = client.authorization(method: .play, uri: "*", clientNonce: "c") ?? ""
            try require(!answer.utf8.contains { $0 < 0x20 }, "an answer with control characters")
        }
        if let authorization = DigestAuthorization(text),
            authorization.text.utf8.count <= AuthenticationParameters.maximumSize
        {
            let again = DigestAuthorization(authorization.text)
            try require(again?.text == authorization.text, "\(authorization.text) became \(again?.text ?? "nothing")")
            try require(!authorization.isProof(of: "unknown", method: "PLAY"), "a proof of an unknown secret")
        }
        _ = BasicCredentials(text)
    }

    // MARK: Properties

    private static func checkMessages(_ input: [UInt8], limits: RTSPLimits) throws -> RTSPStream {
        let whole = RTSPStream(input, cuts: [], limits: limits)
        let cut = RTSPStream(input, cuts: [input.count / 3, input.count / 2], limits: limits)
        try require(cut.messages == whole.messages, "cut it is \(cut.messages), whole \(whole.messages)")
        try require(cut.error == whole.error, "cut it fails with \(cut.error, default: "nothing")")
        for message in whole.messages {
            var written = ByteBuffer()
            message.write(into: &written)
            let again = RTSPStream(Array(written.readableBytesView), cuts: [], limits: RTSPLimits(bodySize: 1 << 20))
            // Written lines may be longer than the parsed ones, and exceed the limit.
            guard again.error == nil || written.readableBytes < 4_000 else { continue }
            try require(again.messages == [message], "\(message) became \(again.messages)")
        }
        return whole
    }

    private static func checkHeaders(_ headers: RTSPHeaders) throws {
        var typed = RTSPHeaders()
        typed.session = headers.session
        typed.transports = headers.transports
        typed.range = headers.range
        typed.rtpInfo = headers.rtpInfo
        try require(typed.session == headers.session, "the session changed")
        try require(typed.transports == headers.transports, "the transports changed: \(headers.transports)")
        try require(typed.range == headers.range, "the range changed: \(headers.range, default: "none")")
        try require(headers.rtpInfo.count <= HeaderParameters.maximumCount, "\(headers.rtpInfo.count) streams")
        _ = (headers.cseq, headers.publicMethods, headers.required, headers.unsupported, headers.challenges)
    }
}

/// The parsed messages of an input.
private struct RTSPStream {
    private(set) var messages: [RTSPMessage] = []
    private(set) var error: RTSPParseError?

    init(_ input: [UInt8], cuts: [Int], limits: RTSPLimits) {
        var parser = RTSPParser(limits: limits)
        var start = 0
        do throws(RTSPParseError) {
            for end in cuts + [input.count] where end > start {
                parser.receive(ByteBuffer(bytes: input[start..<end]))
                while let message = try parser.next() { messages.append(message) }
                start = end
            }
        } catch {
            self.error = error
        }
    }
}

/// A client that gets an input from its camera after the request for the description.
private struct RTSPClientRun {
    private var outputs = 0
    private var bytes = 0

    init(_ input: [UInt8]) {
        guard let url = ServiceURL("rtsp://192.0.2.1/a") else { return }
        let now = NIODeadline.uptimeNanoseconds(1_000_000_000)
        let configuration = RTSPClientConfiguration(
            url: url, credentials: BasicCredentials(username: "a", password: "b"), transport: .tcp)
        var client = RTSPClient(configuration, at: now) { 7 }
        client.start()
        client.connected(at: now)
        drain(&client)
        for message in RTSPStream(input, cuts: [], limits: .client).messages {
            client.receive(message, at: now)
            drain(&client)
            if client.isWaitingForConnection { client.connected(at: now) }
            drain(&client)
        }
        client.handleTimeout(at: now + .seconds(60))
        drain(&client)
    }

    private mutating func drain(_ client: inout RTSPClient) {
        while let output = client.poll() {
            switch output {
            case .timeout: return
            case .send(let buffer): bytes += buffer.readableBytes
            default: break
            }
            outputs += 1
        }
    }

    func check(_ input: [UInt8]) throws {
        try require(outputs <= 64 + input.count, "\(outputs) outputs for \(input.count) bytes")
        try require(bytes <= 16_384 + 64 * input.count, "\(bytes) bytes sent for \(input.count)")
    }
}
