public import IoTCore

/// The server-sent events of `GET /v1/channels/{id}/events`.
public enum ChannelUpdate: Hashable, Sendable {
    /// `event: state`. The first event of every stream, and one for each change.
    case state(ChannelState)
    /// `event: statistics`, about once a second during playback.
    case statistics(StatisticsReport)
    /// `event: discontinuity`
    case discontinuity(ChannelDiscontinuity)
    /// `event: stage`: the play has reached a stage, once for each track.
    case stage(StageDescription)
    /// `event: playback`: a playback channel's device reports where it is.
    case playback(PlaybackReport)
    /// `event: replay`: what happened at the camera that a playback channel plays, in step with its pictures.
    case replay(ReplayReport)
    /// `event: error`: something failed, but the channel continues.
    case warning(APIError)
    /// `event: end`, the last event: the channel is closed.
    case end(ChannelDescription)

    public var serverSentEvent: ServerSentEvent {
        get throws(IoTError) {
            switch self {
            case .state(let state): try ServerSentEvent(name: "state", encoding: state)
            case .statistics(let report): try ServerSentEvent(name: "statistics", encoding: report)
            case .discontinuity(let change): try ServerSentEvent(name: "discontinuity", encoding: change)
            case .stage(let stage): try ServerSentEvent(name: "stage", encoding: stage)
            case .playback(let report): try ServerSentEvent(name: "playback", encoding: report)
            case .replay(let report): try ServerSentEvent(name: "replay", encoding: report)
            case .warning(let error): try ServerSentEvent(name: "error", encoding: error)
            case .end(let description): try ServerSentEvent(name: "end", encoding: description)
            }
        }
    }

    /// `nil` for an unknown event of a newer daemon.
    public init?(_ event: ServerSentEvent) throws(IoTError) {
        switch event.name {
        case "state": self = .state(try event.decode(ChannelState.self))
        case "statistics": self = .statistics(try event.decode(StatisticsReport.self))
        case "discontinuity": self = .discontinuity(try event.decode(ChannelDiscontinuity.self))
        case "stage": self = .stage(try event.decode(StageDescription.self))
        case "playback": self = .playback(try event.decode(PlaybackReport.self))
        case "replay": self = .replay(try event.decode(ReplayReport.self))
        case "error": self = .warning(try event.decode(APIError.self))
        case "end": self = .end(try event.decode(ChannelDescription.self))
        default: return nil
        }
    }
}

/// A break in the playback.
public struct ChannelDiscontinuity: Codable, Hashable, Sendable {
    public enum Reason: String, Codable, Hashable, Sendable, CaseIterable {
        /// The source's clock jumped, or its file started again.
        case clock
        /// The picture size changed.
        case size
    }

    public var reason: Reason
    /// The first frame after the break: µs on the source's clock.
    public var pts: Int64
    /// The new width of the picture.
    public var width: Int?
    public var height: Int?

    public init(reason: Reason, pts: Int64, width: Int? = nil, height: Int? = nil) {
        self.reason = reason
        self.pts = pts
        self.width = width
        self.height = height
    }
}
