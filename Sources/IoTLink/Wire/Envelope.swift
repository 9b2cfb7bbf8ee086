public import IoTCore

/// One message of the link. An `id` with a `method` is a request, an `id` with a `code` a reply, a `method`
/// without `id` a push. Unknown members are ignored.
public enum Envelope: Sendable, Equatable {
    case request(LinkRequest)
    case reply(LinkReply)
    case push(LinkPush)

    /// 256 KiB of JSON text.
    public static let maximumSize = 262_144

    /// Throws 25013 for more than `maximumSize` bytes, 25001 for a malformed envelope.
    public init(parsing bytes: [UInt8]) throws(IoTError) {
        guard bytes.count <= Self.maximumSize else { throw Self.tooLarge(bytes.count) }
        let json: JSONValue
        do {
            json = try JSONValue(parsing: bytes)
        } catch {
            throw IoTError(.invalidRequest, "the envelope is not JSON: \(error.reason) at byte \(error.offset)")
        }
        try self.init(json: json)
    }

    init(json: JSONValue) throws(IoTError) {
        guard let members = json.objectValue else { throw Self.malformed("it is not an object") }
        let params = members["params"] ?? .object([:])
        let method = members["method"]?.stringValue
        if let method { guard (1...64).contains(method.utf8.count) else { throw Self.malformed("method") } }

        guard let rawID = members["id"] else {
            guard let method else { throw Self.malformed("it has neither id nor method") }
            self = .push(LinkPush(method: method, params: params, t: members["t"]?.integerValue))
            return
        }
        guard let id = rawID.stringValue, RequestID.isValid(id) else { throw Self.malformed("id") }
        if let method {
            self = .request(try Self.request(id: id, method: method, params: params, members))
        } else {
            self = .reply(try Self.reply(id: id, members))
        }
    }

    /// Compact JSON text. Throws 25013 when it is longer than `maximumSize`.
    public func serialized() throws(IoTError) -> [UInt8] {
        let json =
            switch self {
            case .request(let request): request.json
            case .reply(let reply): reply.json
            case .push(let push): push.json
            }
        let bytes = json.jsonBytes
        guard bytes.count <= Self.maximumSize else { throw Self.tooLarge(bytes.count) }
        return bytes
    }

    private static func request(
        id: String, method: String, params: JSONValue, _ members: [String: JSONValue]
    ) throws(IoTError) -> LinkRequest {
        guard let t = members["t"]?.integerValue, let deadline = members["deadline"]?.integerValue else {
            throw malformed("t and deadline are ms since 1970")
        }
        var from: Principal?
        if let text = members["from"] {
            guard let principal = text.stringValue.flatMap({ Principal($0) }) else { throw malformed("from") }
            from = principal
        }
        var actingAs: Principal?
        if let text = members["as"] {
            guard let principal = text.stringValue.flatMap({ Principal($0) }) else { throw malformed("as") }
            actingAs = principal
        }
        return LinkRequest(
            id: id, method: method, from: from, actingAs: actingAs, params: params, t: t, deadline: deadline)
    }

    private static func reply(id: String, _ members: [String: JSONValue]) throws(IoTError) -> LinkReply {
        guard let code = members["code"]?.integerValue.flatMap({ Int(exactly: $0) }) else { throw malformed("code") }
        var seq: Int?
        if let number = members["seq"] {
            guard let value = number.integerValue, let place = Int(exactly: value), place >= 0 else {
                throw malformed("seq")
            }
            seq = place
        }
        return LinkReply(
            id: id, code: ErrorCode(rawValue: code), message: members["message"]?.stringValue ?? "",
            remedy: members["remedy"]?.stringValue, result: members["result"] ?? .null, seq: seq,
            final: members["final"]?.boolValue ?? true)
    }

    private static func malformed(_ what: String) -> IoTError {
        IoTError(.invalidRequest, "the envelope is malformed: \(what)")
    }

    private static func tooLarge(_ count: Int) -> IoTError {
        IoTError(.payloadTooLarge, "an envelope is at most \(maximumSize) bytes, this one has \(count)")
    }
}
