import IoTCore
import NIOCore

/// The first line and the header fields of a message.
struct RTSPHead: Sendable {
    enum Start: Sendable {
        case request(RTSPMethod, uri: String)
        case response(RTSPStatus, reason: String)
    }

    var start: Start
    var headers = RTSPHeaders()
    var contentLengthText: String?

    func contentLength(limit: Int) throws(RTSPParseError) -> Int {
        guard let text = contentLengthText else { return 0 }
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw .malformedContentLength
        }
        // A number that overflows is also too large.
        guard let length = Int(text), length <= limit else { throw .bodyTooLarge(limit) }
        return length
    }

    func message(body: ByteBuffer) -> RTSPMessage {
        switch start {
        case .request(let method, let uri): .request(RTSPRequest(method, uri, headers: headers, body: body))
        case .response(let status, let reason):
            .response(RTSPResponse(status, reason: reason, headers: headers, body: body))
        }
    }
}

/// Parses the head of a message line by line.
struct RTSPHeadParser: Sendable {
    private let limits: RTSPLimits
    private var head: RTSPHead?
    private var size = 0

    init(limits: RTSPLimits) { self.limits = limits }

    /// True until the first line has been read.
    var isEmpty: Bool { head == nil }

    /// Takes the next line.
    ///
    /// - Returns: The head, after its empty line. Empty lines before the first line are ignored, because some cameras
    ///   send an empty line after a body that `Content-Length` does not include.
    mutating func take(_ line: ByteBuffer) throws(RTSPParseError) -> RTSPHead? {
        let bytes = line.readableBytesView
        size += bytes.count + 2
        guard size <= limits.headSize else { throw .headTooLarge(limits.headSize) }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 9 }) else { throw .controlCharacter }
        guard head != nil else {
            if !bytes.isEmpty { head = RTSPHead(start: try Self.start(bytes)) }
            return nil
        }
        if bytes.isEmpty { return head }
        try add(bytes)
        return nil
    }

    private mutating func add(_ line: ByteBufferView) throws(RTSPParseError) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .malformedField }
        let name = Self.trimmed(line[..<colon])
        // Folded lines, which begin with a space (RFC 2326 §4.2), are refused: no known camera or player sends them.
        guard line.first != 0x20, line.first != 9, !name.isEmpty, name.allSatisfy(Self.isToken) else {
            throw .malformedField
        }
        // Values are UTF-8 (RFC 2326 §15.1). A field with another encoding is ignored.
        guard let value = String(validating: Self.spaced(Self.trimmed(line[(colon + 1)...])), as: UTF8.self),
            value.isStreamSafe
        else { return }
        try add(String(decoding: name, as: UTF8.self), value)
    }

    private mutating func add(_ name: String, _ value: String) throws(RTSPParseError) {
        guard var head = self.head.take() else { return }
        let key = name.lowercased()
        if key == RTSPHeaderName.contentLength.lowercased() {
            guard head.contentLengthText ?? value == value else { throw .repeatedField(name) }
            head.contentLengthText = value
        } else {
            guard head.headers.fields.count < limits.fieldCount else { throw .tooManyFields(limits.fieldCount) }
            let earlier = RTSPHeaderName.lists.contains(key) ? nil : head.headers[name]
            guard earlier ?? value == value else { throw .repeatedField(name) }
            if earlier == nil { head.headers.add(name, value) }
        }
        self.head = head
    }

    // MARK: First line

    private static func start(_ line: ByteBufferView) throws(RTSPParseError) -> RTSPHead.Start {
        let text = String(decoding: line, as: UTF8.self)
        return text.utf8.starts(with: "RTSP/".utf8) ? try response(text) : try request(text)
    }

    /// `DESCRIBE rtsp://192.0.2.7/stream RTSP/1.0`
    private static func request(_ text: String) throws(RTSPParseError) -> RTSPHead.Start {
        let words = text.utf8.split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.count == 3, (1...32).contains(words[0].count), words[0].allSatisfy(isToken), !words[1].isEmpty,
            words[1].allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw .malformedRequestLine }
        guard words[2].elementsEqual("RTSP/1.0".utf8) else { throw .unknownVersion }
        return .request(RTSPMethod(rawValue: String(Substring(words[0]))), uri: String(Substring(words[1])))
    }

    /// `RTSP/1.0 200 OK`; the reason may be absent.
    private static func response(_ text: String) throws(RTSPParseError) -> RTSPHead.Start {
        let words = text.utf8.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
        guard words[0].elementsEqual("RTSP/1.0".utf8) else { throw .unknownVersion }
        guard words.count >= 2, words[1].count == 3, let status = Int(Substring(words[1])),
            (100...599).contains(status)
        else { throw .malformedStatusLine }
        let reason = words.count > 2 ? String(decoding: spaced(words[2]), as: UTF8.self) : ""
        return .response(RTSPStatus(rawValue: status), reason: reason.isStreamSafe ? reason : "")
    }

    // MARK: Characters

    /// RFC 9110 §5.6.2.
    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// A tab means the same as a space (RFC 2326 §15.1, LWS).
    private static func spaced(_ bytes: some Collection<UInt8>) -> [UInt8] { bytes.map { $0 == 9 ? 0x20 : $0 } }

    /// Quirk 1: Longse cameras end the line of CSeq with spaces (scottlamb/retina#77).
    private static func trimmed(_ bytes: ByteBufferView) -> ByteBufferView {
        var bytes = bytes.drop { $0 == 0x20 || $0 == 9 }
        while let last = bytes.last, last == 0x20 || last == 9 { bytes = bytes.dropLast() }
        return bytes
    }
}
