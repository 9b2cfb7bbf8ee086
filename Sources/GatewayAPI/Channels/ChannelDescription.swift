public import IoTCore

/// An open channel: its state, tracks and statistics.
public struct ChannelDescription: Codable, Hashable, Sendable {
    public var id: String
    /// The device's id.
    public var device: String
    /// The device's name.
    public var deviceName: String
    public var source: ChannelSource
    /// `live`, `monitor`, `playback` or `transmission`.
    public var kind: String
    public var state: ChannelState
    /// Empty until the device has described the tracks.
    public var tracks: [TrackDescription]
    /// `nil` before `play`.
    public var statistics: StatisticsReport?
    /// `nil` in final descriptions.
    public var talk: TalkState?
    /// `low`, `mid`, `high` or `audio`; `nil` from a device without definitions.
    public var definition: String?
    /// The definitions that the device has, the best first.
    public var definitions: [String]?
    /// The name of the camera that a live channel shows to the device.
    public var camera: String?
    /// How a playback channel plays; `nil` before the first request about it.
    public var playback: PlaybackState?
    /// True for a live call that somebody at the device must accept before media flow, or had to.
    public var rings: Bool?
    /// Whether the device has signed the description of its connection with a key that the account knows; `nil` from an
    /// older daemon.
    public var verified: Bool?
    /// How the account learned that key; `nil` if `verified` is false.
    public var keySource: KeySource?
    /// The settings of this use of the channel; see `ChannelSettings`.
    public var muted: Bool?
    public var volume: SoundVolume?
    public var rotation: Int?
    public var echo: EchoTreatment?
    /// The channel's number in the log; uses that share a channel have the same.
    public var number: Int?
    /// The stages of the play that were reached, in order.
    public var stages: [StageDescription]?

    public init(
        id: String, device: String, deviceName: String, source: ChannelSource, kind: ChannelKind,
        state: ChannelState, tracks: [TrackDescription], statistics: StatisticsReport? = nil, talk: TalkState? = nil,
        definition: String? = nil, definitions: [String] = [], camera: String? = nil, keySource: KeySource? = nil
    ) {
        self.id = id
        self.device = device
        self.deviceName = deviceName
        self.source = source
        self.kind = kind.name
        self.state = state
        self.tracks = tracks
        self.statistics = statistics
        self.talk = talk
        self.definition = definition
        self.definitions = definitions.isEmpty ? nil : definitions
        self.camera = camera
        verified = keySource != nil
        self.keySource = keySource
    }
}

/// A channel's connection and player states.
public struct ChannelState: Codable, Hashable, Sendable {
    /// −1 disconnecting, 0 disconnected, 1 connecting, 2 connected.
    public var connection: NamedValue
    /// While connecting: 1 wakingDevice, 2 handshaking, 3 ready.
    public var substate: NamedValue?
    /// −1 stopping, 0 stopped, 1 preparing, 2 ready, 3 loading, 4 playing, 5 paused, 6 fastForward, 7 seeking.
    public var player: NamedValue
    /// The bits of `LoadState`: 1 playable, 2 playthroughOK, 4 stalled; `nil` from an older daemon.
    public var load: NamedValue?
    /// The failure that ended the channel. While `player` is loading after it has played: why it plays no more.
    public var reason: APIError?

    public init(
        connection: ConnectionStatus, substate: ConnectionSubstate? = nil, player: PlayerStatus,
        reason: IoTError? = nil
    ) {
        self.connection = NamedValue(value: connection.rawValue, name: connection.name)
        self.substate = substate.map { NamedValue(value: $0.rawValue, name: $0.name) }
        self.player = NamedValue(value: player.rawValue, name: player.name)
        load = NamedValue(value: player.load.rawValue, name: player.load.name)
        self.reason = reason.map(APIError.init)
    }

    /// Whether it plays no more, for a reason that does not end it.
    public var isInterrupted: Bool { player.value == PlayerStatus.loading.rawValue && reason != nil }
}

/// The number and the name of a state.
public struct NamedValue: Codable, Hashable, Sendable {
    public var value: Int
    public var name: String

    public init(value: Int, name: String) {
        self.value = value
        self.name = name
    }
}

/// `GET /v1/channels`
public struct ChannelList: Codable, Hashable, Sendable {
    public var channels: [ChannelDescription]
    /// The value of `after` for the next page; `nil` at the end of the list.
    public var next: String?

    public init(channels: [ChannelDescription], next: String? = nil) {
        self.channels = channels
        self.next = next
    }

    public init(_ page: Page<ChannelDescription>) {
        self.init(channels: page.elements, next: page.next)
    }
}
