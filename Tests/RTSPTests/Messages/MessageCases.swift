import NIOCore
import Testing

@testable import RTSP

/// A message and its text, for parsing and writing.
struct MessageCase: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String
    let message: RTSPMessage

    var testDescription: String { name }

    static let all = requests + responses + frames

    private static let requests = [
        MessageCase(
            "OPTIONS of everything", "OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n",
            .request(RTSPRequest(.options, "*", headers: ["CSeq": "1"]))),
        MessageCase(
            "DESCRIBE (RFC 2326 §10.2)",
            "DESCRIBE rtsp://server.example.com/fizzle/foo RTSP/1.0\r\nCSeq: 312\r\n"
                + "Accept: application/sdp, application/rtsl, application/mheg\r\n\r\n",
            .request(
                RTSPRequest(
                    .describe, "rtsp://server.example.com/fizzle/foo",
                    headers: ["CSeq": "312", "Accept": "application/sdp, application/rtsl, application/mheg"]))),
        MessageCase(
            "an unknown method", "FLY rtsp://[2001:db8::7]:8554/a?b=c&d RTSP/1.0\r\n\r\n",
            .request(RTSPRequest(RTSPMethod(rawValue: "FLY"), "rtsp://[2001:db8::7]:8554/a?b=c&d"))),
        MessageCase(
            "a request with a body",
            "SET_PARAMETER rtsp://192.0.2.7/ RTSP/1.0\r\nCSeq: 9\r\nSession: 12345678\r\nContent-Length: 20\r\n\r\n"
                + "barparam: barstuff\r\n",
            .request(
                RTSPRequest(
                    .setParameter, "rtsp://192.0.2.7/", headers: ["CSeq": "9", "Session": "12345678"],
                    body: ByteBuffer(string: "barparam: barstuff\r\n")))),
    ]

    private static let responses = [
        MessageCase(
            "a response with challenges",
            "RTSP/1.0 401 Unauthorized\r\nCSeq: 2\r\nWWW-Authenticate: Digest realm=\"IPC\", nonce=\"1\"\r\n"
                + "WWW-Authenticate: Basic realm=\"IPC\"\r\n\r\n",
            .response(
                RTSPResponse(
                    .unauthorized,
                    headers: [
                        "CSeq": "2", "WWW-Authenticate": "Digest realm=\"IPC\", nonce=\"1\"",
                        "WWW-Authenticate": "Basic realm=\"IPC\"",
                    ]))),
        MessageCase(
            "a response with a session description",
            "RTSP/1.0 200 OK\r\nCSeq: 3\r\nContent-Type: application/sdp\r\nContent-Length: 5\r\n\r\nv=0\r\n",
            .response(
                RTSPResponse(
                    .ok, headers: ["CSeq": "3", "Content-Type": "application/sdp"],
                    body: ByteBuffer(string: "v=0\r\n")))),
        MessageCase(
            "a reason of several words", "RTSP/1.0 455 Not in This State, Sorry\r\nCSeq: 4\r\n\r\n",
            .response(
                RTSPResponse(.methodNotValidInState, reason: "Not in This State, Sorry", headers: ["CSeq": "4"]))),
        MessageCase("no reason", "RTSP/1.0 200 \r\n\r\n", .response(RTSPResponse(.ok, reason: ""))),
    ]

    private static let frames = [
        MessageCase(
            "a frame", "$\0\0\u{3}abc",
            .frame(InterleavedFrame(channel: 0, payload: ByteBuffer(string: "abc")))),
        MessageCase("an empty frame", "$\u{7F}\0\0", .frame(InterleavedFrame(channel: 127, payload: ByteBuffer()))),
        MessageCase(
            "a frame that looks like a message", "$\u{1}\0\u{13}RTSP/1.0 200 OK\r\n\r\n",
            .frame(InterleavedFrame(channel: 1, payload: ByteBuffer(string: "RTSP/1.0 200 OK\r\n\r\n")))),
    ]

    private init(_ name: String, _ text: String, _ message: RTSPMessage) {
        self.name = name
        self.text = text
        self.message = message
    }
}

extension RTSPHeaders: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init()
        for (name, value) in elements { add(name, value) }
    }
}

extension RTSPParser {
    /// Parses `pieces`, and returns the messages and the error after them.
    static func read(
        _ pieces: [ByteBuffer], limits: RTSPLimits = .client
    ) -> (messages: [RTSPMessage], error: RTSPParseError?) {
        var parser = RTSPParser(limits: limits)
        var messages: [RTSPMessage] = []
        do throws(RTSPParseError) {
            for piece in pieces {
                parser.receive(piece)
                while let message = try parser.next() { messages.append(message) }
            }
        } catch {
            return (messages, error)
        }
        return (messages, nil)
    }

    static func read(_ text: String, limits: RTSPLimits = .client) -> (messages: [RTSPMessage], error: RTSPParseError?)
    {
        read([ByteBuffer(string: text)], limits: limits)
    }
}
