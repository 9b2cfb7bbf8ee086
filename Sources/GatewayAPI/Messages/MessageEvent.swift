public import IoTCore

/// The server-sent events of `POST /v1/devices/{device}/messages` with `responses: many` and `Accept:
/// text/event-stream`.
public enum MessageEvent: Hashable, Sendable {
    /// `event: response`
    case response(MessageData)
    /// `event: error`, the last event: no more responses follow.
    case failed(APIError)
    /// `event: end`, the last event: the device has sent all responses.
    case end

    public var serverSentEvent: ServerSentEvent {
        get throws(IoTError) {
            switch self {
            case .response(let data): try ServerSentEvent(name: "response", encoding: data)
            case .failed(let error): try ServerSentEvent(name: "error", encoding: error)
            case .end: try ServerSentEvent(name: "end", encoding: EmptyResponse())
            }
        }
    }

    /// `nil` for an unknown event of a newer daemon.
    public init?(_ event: ServerSentEvent) throws(IoTError) {
        switch event.name {
        case "response": self = .response(try event.decode(MessageData.self))
        case "error": self = .failed(try event.decode(APIError.self))
        case "end": self = .end
        default: return nil
        }
    }
}
