public import IoTCore

/// `POST /v1/channels/{id}/data`: a message or a request over a channel.
public struct DataRequest: APIRequestBody, Hashable {
    public static let members = ["data", "text", "responses", "timeoutMilliseconds"]
    /// The maximum size in bytes; more fail with 21024.
    public static let maximumSize = 64_000

    /// The bytes in base64 (RFC 4648 §4); either this or `text`.
    public var data: String?
    /// The bytes as UTF-8 text.
    public var text: String?
    /// Default `none`: a message that nobody answers.
    public var responses: MessageResponses?
    /// 100 ms to 10 min, for the device's room and all responses. Default 10 s.
    public var timeoutMilliseconds: Int?

    public init(
        data: String? = nil, text: String? = nil, responses: MessageResponses? = nil, timeoutMilliseconds: Int? = nil
    ) {
        self.data = data
        self.text = text
        self.responses = responses
        self.timeoutMilliseconds = timeoutMilliseconds
    }
}

/// One line of `POST /v1/channels/{id}/data/stream`.
public struct DataLine: APIRequestBody, Hashable {
    public static let members = ["data", "text"]
    /// The most bytes of a line: 64,000 bytes in base64, or as text with each byte escaped.
    public static let maximumSize = 6 * DataRequest.maximumSize + 64

    public var data: String?
    public var text: String?

    public init(data: String? = nil, text: String? = nil) {
        self.data = data
        self.text = text
    }
}

/// The answer of `POST /v1/channels/{id}/data/stream`: what was sent.
public struct DataReport: Codable, Hashable, Sendable {
    public var messages: Int
    public var bytes: Int

    public init(messages: Int, bytes: Int) {
        self.messages = messages
        self.bytes = bytes
    }
}

/// The server-sent events of `GET /v1/channels/{id}/data`: the device's messages.
public enum ChannelDataEvent: Hashable, Sendable {
    /// `event: message`
    case message(MessageData)
    /// `event: error`, the last event.
    case failed(APIError)
    /// `event: end`, the last event: the channel was closed.
    case end

    public var serverSentEvent: ServerSentEvent {
        get throws(IoTError) {
            switch self {
            case .message(let data): try ServerSentEvent(name: "message", encoding: data)
            case .failed(let error): try ServerSentEvent(name: "error", encoding: error)
            case .end: try ServerSentEvent(name: "end", encoding: EmptyResponse())
            }
        }
    }

    /// `nil` for an unknown event of a newer daemon.
    public init?(_ event: ServerSentEvent) throws(IoTError) {
        switch event.name {
        case "message": self = .message(try event.decode(MessageData.self))
        case "error": self = .failed(try event.decode(APIError.self))
        case "end": self = .end
        default: return nil
        }
    }
}
