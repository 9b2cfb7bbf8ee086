import IoTCore

/// One event of a `text/event-stream` (HTML Living Standard §9.2).
public struct ServerSentEvent: Hashable, Sendable {
    /// The event's type; `message` if the stream does not name one.
    public var name: String
    public var data: String
    /// The id after which to resume, sent as `Last-Event-ID`; `nil` if the stream has none.
    public var id: String?

    public init(name: String, data: String, id: String? = nil) {
        self.name = name
        self.data = data
        self.id = id
    }

    init(name: String, encoding value: some Encodable) throws(IoTError) {
        self.init(name: name, data: String(decoding: try APICoding.encode(value), as: UTF8.self))
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws(IoTError) -> Value {
        try APICoding.decode(type, from: data.utf8)
    }

    /// The event as sent, including the empty line at its end.
    public var text: String {
        var text = "event: \(name)\n"
        if let id { text += "id: \(id)\n" }
        for line in data.split(separator: "\n", omittingEmptySubsequences: false) { text += "data: \(line)\n" }
        return text + "\n"
    }

    /// A comment that keeps an idle stream alive. Readers skip it.
    public static let heartbeat = ": heartbeat\n\n"
}
