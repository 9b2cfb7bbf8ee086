import IoTCore
import NIOCore
import TestSupport
import Testing

@testable import RTSP

@Suite struct RTSPParserTests {
    @Test("A message is parsed from its text", arguments: MessageCase.all)
    func read(_ example: MessageCase) {
        let (messages, error) = RTSPParser.read(example.text)
        #expect(messages == [example.message])
        #expect(error == nil)
    }

    @Test("A message is written as its text", arguments: MessageCase.all)
    func write(_ example: MessageCase) {
        var buffer = ByteBuffer()
        example.message.write(into: &buffer)
        #expect(String(buffer: buffer) == example.text)
    }

    @Test("The parsed messages do not depend on how the bytes are divided")
    func cuts() {
        let whole = ByteBuffer(string: MessageCase.all.map(\.text).joined())
        var random = SeededGenerator(seed: 14)
        for size in [1, 2, 3, 7, 64] {
            var rest = whole
            var pieces: [ByteBuffer] = []
            while rest.readableBytes > 0, let piece = rest.readSlice(length: min(size, rest.readableBytes)) {
                pieces.append(piece)
            }
            #expect(RTSPParser.read(pieces).messages == MessageCase.all.map(\.message))
        }
        for _ in 0..<50 {
            var rest = whole
            var pieces: [ByteBuffer] = []
            while rest.readableBytes > 0 {
                let size = min(Int.random(in: 1...90, using: &random), rest.readableBytes)
                if let piece = rest.readSlice(length: size) { pieces.append(piece) }
            }
            #expect(RTSPParser.read(pieces).messages == MessageCase.all.map(\.message))
        }
    }

    @Test("A payload keeps its bytes while later bytes arrive")
    func payloadsStay() throws {
        var parser = RTSPParser(limits: .client)
        parser.receive(ByteBuffer(string: "$\0\0\u{3}abc$\0\0\u{3}d"))
        let first = try parser.next()
        #expect(try parser.next() == nil)
        #expect(parser.isWithinMessage)
        parser.receive(ByteBuffer(string: "ef"))
        let second = try parser.next()
        #expect(first == .frame(InterleavedFrame(channel: 0, payload: ByteBuffer(string: "abc"))))
        #expect(second == .frame(InterleavedFrame(channel: 0, payload: ByteBuffer(string: "def"))))
        #expect(!parser.isWithinMessage)
    }

    @Test("Spaces after a value, tabs, empty lines before a message and repeated equal fields are accepted")
    func tolerance() {
        let text = "\r\n\r\nRTSP/1.0 200 All\twell\r\nCSeq:\t 7  \r\nSession: 1\t2\r\nsession: 1 2\r\n\r\n"
        let response = RTSPResponse(.ok, reason: "All well", headers: ["CSeq": "7", "Session": "1 2"])
        #expect(RTSPParser.read(text).messages == [.response(response)])
    }

    @Test("Values that are not UTF-8 or have many combining marks are ignored")
    func foreignText() {
        var bytes = ByteBuffer(string: "RTSP/1.0 200 OK\r\nServer: ")
        bytes.writeBytes([0xC4, 0xE3, 0xBA, 0xC3])
        bytes.writeString("\r\nX: e" + String(repeating: "\u{301}", count: 200) + "\r\nCSeq: 1\r\n\r\n")
        #expect(RTSPParser.read([bytes]).messages == [.response(RTSPResponse(.ok, headers: ["CSeq": "1"]))])
    }

    @Test(
        "Bytes that are not RTSP cause an error with the reason",
        arguments: [
            ("RTSP/1.0 200 OK\nCSeq: 1\n\n", .bareLineFeed),
            ("RTSP/1.0 200 OK\r\nCSeq: 1\n\r\n", .bareLineFeed),
            ("\n", .bareLineFeed),
            ("RTSP/1.0 200 OK\r\nA: b\rC: d\r\n\r\n", .controlCharacter),
            ("RTSP/1.0 200 OK\r\nA: \0\r\n\r\n", .controlCharacter),
            ("GET / HTTP/1.1\r\n\r\n", .unknownVersion),
            ("OPTIONS * RTSP/2.0\r\n\r\n", .unknownVersion),
            ("RTSP/2.0 200 OK\r\n\r\n", .unknownVersion),
            ("OPTIONS *\r\n\r\n", .malformedRequestLine),
            ("OPTIONS  * RTSP/1.0\r\n\r\n", .malformedRequestLine),
            ("OPT(IONS * RTSP/1.0\r\n\r\n", .malformedRequestLine),
            ("OPTIONS rtsp://h\u{E9}/ RTSP/1.0\r\n\r\n", .malformedRequestLine),
            ("RTSP/1.0 2000 OK\r\n\r\n", .malformedStatusLine),
            ("RTSP/1.0 +20 OK\r\n\r\n", .malformedStatusLine),
            ("RTSP/1.0\r\n\r\n", .malformedStatusLine),
            ("RTSP/1.0 200 OK\r\nCSeq 1\r\n\r\n", .malformedField),
            ("RTSP/1.0 200 OK\r\n: 1\r\n\r\n", .malformedField),
            ("RTSP/1.0 200 OK\r\nA: b\r\n c\r\n\r\n", .malformedField),
            ("RTSP/1.0 200 OK\r\nA: b\r\n c: d\r\n\r\n", .malformedField),
            ("RTSP/1.0 200 OK\r\nCSeq: 1\r\nCSeq: 2\r\n\r\n", .repeatedField("CSeq")),
            ("RTSP/1.0 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", .repeatedField("Content-Length")),
            ("RTSP/1.0 200 OK\r\nContent-Length: -1\r\n\r\n", .malformedContentLength),
            ("RTSP/1.0 200 OK\r\nContent-Length: +1\r\n\r\n", .malformedContentLength),
            ("RTSP/1.0 200 OK\r\nContent-Length: 0x10\r\n\r\n", .malformedContentLength),
            ("RTSP/1.0 200 OK\r\nContent-Length:\r\n\r\n", .malformedContentLength),
            ("RTSP/1.0 200 OK\r\nContent-Length: 1073741824\r\n\r\n", .bodyTooLarge(65_536)),
            ("RTSP/1.0 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", .bodyTooLarge(65_536)),
        ] as [(String, RTSPParseError)])
    func errors(text: String, expected: RTSPParseError) {
        let (messages, error) = RTSPParser.read(text)
        #expect(messages.isEmpty)
        #expect(error == expected)
        let bytes = Array(text.utf8).map { ByteBuffer(bytes: [$0]) }
        #expect(RTSPParser.read(bytes).error == expected)
    }

    @Test("The sizes of lines, heads and bodies and the number of fields are limited")
    func bounds() {
        let long = String(repeating: "a", count: 5_000)
        #expect(RTSPParser.read("OPTIONS rtsp://h/\(long)").error == .lineTooLong(4_096))
        #expect(RTSPParser.read("RTSP/1.0 200 OK\r\nA: \(long)\r\n").error == .lineTooLong(4_096))
        let fields = (0..<65).map { "A\($0): b\r\n" }.joined()
        #expect(RTSPParser.read("RTSP/1.0 200 OK\r\n\(fields)\r\n").error == .tooManyFields(64))
        let wide = (0..<5).map { "A\($0): \(long.prefix(4_000))\r\n" }.joined()
        #expect(RTSPParser.read("RTSP/1.0 200 OK\r\n\(wide)\r\n").error == .headTooLarge(16_384))
        let body = "RTSP/1.0 200 OK\r\nContent-Length: 5000\r\n\r\n\(long)"
        #expect(RTSPParser.read(body).messages.count == 1)
        #expect(RTSPParser.read(body, limits: .server).error == .bodyTooLarge(4_096))
    }

    @Test("After an error, nothing more is parsed")
    func failed() {
        var parser = RTSPParser(limits: .client)
        parser.receive(ByteBuffer(string: "nonsense\r\n"))
        #expect(throws: RTSPParseError.malformedRequestLine) { try parser.next() }
        parser.receive(ByteBuffer(string: "OPTIONS * RTSP/1.0\r\n\r\n"))
        #expect(throws: RTSPParseError.malformedRequestLine) { try parser.next() }
    }

    @Test("A value cannot begin a new line")
    func injection() {
        var buffer = ByteBuffer()
        RTSPRequest(.describe, "rtsp://h/\r\nX: y", headers: ["A": "b\r\nC: d"]).write(into: &buffer)
        #expect(String(buffer: buffer) == "DESCRIBE rtsp://h/X: y RTSP/1.0\r\nA: bC: d\r\n\r\n")
    }

    @Test("Every error has a message and a status")
    func descriptions() {
        let errors: [RTSPParseError] = [.lineTooLong(1), .bodyTooLarge(1), .unknownVersion, .repeatedField("CSeq")]
        #expect(errors.map(\.status) == [.uriTooLong, .bodyTooLarge, .versionNotSupported, .badRequest])
        #expect(errors.allSatisfy { !"\($0)".isEmpty })
    }
}
