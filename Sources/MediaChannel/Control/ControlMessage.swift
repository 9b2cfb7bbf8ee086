import IoTCore

/// A message of a call's control channel: JSON-RPC 2.0, one message in each text message of the data channel.
///
/// Errors have the numbers of this product instead of JSON-RPC's own, and `data` with the name and the remedy.
enum ControlMessage: Sendable {
    case request(id: JSONValue, method: String, params: JSONValue)
    case notification(method: String, params: JSONValue)
    case result(id: JSONValue, JSONValue)
    case failure(id: JSONValue, IoTError)

    /// The longest message in bytes.
    static let maximumByteCount = 8_192
    private static let maximumDepth = 16
    private static let version: JSONValue = "2.0"

    /// - Throws: `invalidRequest` for anything that is not one JSON-RPC message; batches are not supported.
    init(parsing text: String) throws(IoTError) {
        guard text.utf8.count <= Self.maximumByteCount else {
            throw IoTError(.invalidRequest, "a control message may have at most \(Self.maximumByteCount) bytes")
        }
        guard let json = try? JSONValue(parsing: Array(text.utf8), maximumDepth: Self.maximumDepth),
            json["jsonrpc"] == Self.version
        else {
            throw IoTError(.invalidRequest, "this is not a message of JSON-RPC 2.0")
        }
        let id = json["id"]
        if let method = json["method"]?.stringValue {
            let params = json["params"] ?? .object([:])
            guard let id else {
                self = .notification(method: method, params: params)
                return
            }
            guard Self.isUsable(id) else {
                throw IoTError(.invalidRequest, "'id' must be a whole number or a text of at most 64 bytes")
            }
            self = .request(id: id, method: method, params: params)
        } else if let id, let result = json["result"] {
            self = .result(id: id, result)
        } else if let id, let error = json["error"].flatMap(IoTError.init(controlError:)) {
            self = .failure(id: id, error)
        } else {
            throw IoTError(.invalidRequest, "the message is neither a request, a notification nor a response")
        }
    }

    private static func isUsable(_ id: JSONValue) -> Bool {
        switch id {
        case .integer: true
        case .string(let text): text.utf8.count <= 64
        default: false
        }
    }

    var text: String {
        var json: JSONValue = ["jsonrpc": Self.version]
        switch self {
        case .request(let id, let method, let params):
            json["id"] = id
            json["method"] = .string(method)
            json["params"] = params
        case .notification(let method, let params):
            json["method"] = .string(method)
            json["params"] = params
        case .result(let id, let result):
            json["id"] = id
            json["result"] = result
        case .failure(let id, let error):
            json["id"] = id
            json["error"] = error.controlError
        }
        return json.jsonText
    }
}
