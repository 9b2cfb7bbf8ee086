public import IoTCore

/// The server-sent events of `GET /v1/logs`.
public enum LogEntry: Hashable, Sendable {
    /// `event: line`
    case line(LogLine)
    /// `event: lost`: so many lines are missing here, because the reader was too slow.
    case lost(LostLines)
    /// `event: error`, the last event.
    case failed(APIError)
    /// `event: end`, the last event: these were the stored lines.
    case end

    public struct LostLines: Codable, Hashable, Sendable {
        public var lines: Int

        public init(lines: Int) {
            self.lines = lines
        }
    }

    public var serverSentEvent: ServerSentEvent {
        get throws(IoTError) {
            switch self {
            case .line(let line): try ServerSentEvent(name: "line", encoding: line)
            case .lost(let lost): try ServerSentEvent(name: "lost", encoding: lost)
            case .failed(let error): try ServerSentEvent(name: "error", encoding: error)
            case .end: try ServerSentEvent(name: "end", encoding: EmptyResponse())
            }
        }
    }

    /// `nil` for an unknown event of a newer daemon.
    public init?(_ event: ServerSentEvent) throws(IoTError) {
        switch event.name {
        case "line": self = .line(try event.decode(LogLine.self))
        case "lost": self = .lost(try event.decode(LostLines.self))
        case "error": self = .failed(try event.decode(APIError.self))
        case "end": self = .end
        default: return nil
        }
    }
}
