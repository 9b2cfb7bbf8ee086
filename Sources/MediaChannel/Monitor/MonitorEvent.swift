public import IoTCore
public import MediaPlayer

/// What a monitor channel tells those who watch it.
public enum MonitorEvent: Sendable {
    case stateChanged(MonitorState)
    /// About once a second while the media flow.
    case statistics(MonitorDescription)
    /// The frame of this pts (µs) does not follow the one before it; with the picture's parameters from there on.
    case discontinuity(MediaKind, DiscontinuityReason, pts: Int64, VideoParameters?)
    /// Something failed and the channel goes on.
    case warning(IoTError)
    /// The last event.
    case ended(IoTError?)
}

/// A channel's connection and player states.
public struct MonitorState: Sendable, Equatable {
    public var connection: ConnectionStatus = .disconnected
    public var substate: ConnectionSubstate?
    public var player: PlayerStatus = .stopped
    /// Why the player stopped by itself.
    public var reason: IoTError?

    public static func == (left: MonitorState, right: MonitorState) -> Bool {
        left.connection == right.connection && left.substate == right.substate && left.player == right.player
            && left.reason?.code == right.reason?.code
    }
}

/// A channel as it is now.
public struct MonitorDescription: Sendable {
    public var state: MonitorState
    public var video: VideoParameters?
    public var audio: AudioParameters?
    /// `nil` before `play`.
    public var statistics: ChannelStatistics?
    /// From the newest connectivity check, seconds.
    public var roundTripTime: Double?
    /// The first decoded picture's own time, µs; raw video begins with it.
    public var firstPicturePts: Int64?
}
