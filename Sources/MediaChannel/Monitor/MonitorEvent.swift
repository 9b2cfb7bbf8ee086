public import IoTCore
public import MediaPlayer

/// Events that a monitor channel reports to its users.
public enum MonitorEvent: Sendable {
    case stateChanged(MonitorState)
    /// About once per second while media flow.
    case statistics(MonitorDescription)
    /// The frame with this pts (µs) does not follow the one before it; with the video parameters from there on.
    case discontinuity(MediaKind, DiscontinuityReason, pts: Int64, VideoParameters?)
    /// Each stage of the play is reported once for each track.
    case stageReached(StageEntry)
    /// What a playback channel's device reports.
    case playback(PlaybackEvent)
    /// Something failed and the channel continues.
    case warning(IoTError)
    /// The last event.
    case ended(IoTError?)
}

/// A channel's connection and player states.
public struct MonitorState: Sendable, Equatable {
    public var connection: ConnectionStatus = .disconnected
    public var substate: ConnectionSubstate?
    public var player: PlayerStatus = .stopped
    /// Why the player stopped by itself; 25134 while it loads after it has played.
    public var reason: IoTError?

    public static func == (left: MonitorState, right: MonitorState) -> Bool {
        left.connection == right.connection && left.substate == right.substate && left.player == right.player
            && left.reason?.code == right.reason?.code
    }
}

/// The current state of a channel.
public struct MonitorDescription: Sendable {
    public var state: MonitorState
    public var video: VideoParameters?
    public var audio: AudioParameters?
    /// `nil` before `play`.
    public var statistics: ChannelStatistics?
    /// From the newest connectivity check, seconds.
    public var roundTripTime: Double?
    /// The pts of the first decoded picture, µs; raw video starts with it.
    public var firstPicturePts: Int64?
    /// The stages of the play that were reached.
    public var stages: [StageEntry] = []
    public var talk = MonitorTalk()
    public var definitions = MonitorDefinitions(nil, [])
    /// How the account learned the key with which the device has signed its description; `nil` if the description is not
    /// verified.
    public var keySource: KeySource?
    /// The name of the camera that a live channel shows to the device.
    public var ownCamera: String?
    /// How a playback channel plays; `nil` in channels of other kinds, and before the first request about playback.
    public var playback: PlaybackProgress?
    /// Whether somebody at the device must accept the live call before media flow, or had to.
    public var rings = false
}

/// The definition that a channel gets, and those that it can get.
public struct MonitorDefinitions: Sendable, Hashable {
    /// `nil` before the device has accepted the call, and from a device without definitions.
    public var current: String?
    /// The best first.
    public var all: [String]

    init(_ current: String?, _ all: [String]) {
        self.current = current
        self.all = all
    }
}

/// Whether a channel's user can talk, and does.
public struct MonitorTalk: Sendable, Equatable {
    /// The device has a loudspeaker, and the account may talk.
    public var isOffered = false
    public var isTalking = false
}
