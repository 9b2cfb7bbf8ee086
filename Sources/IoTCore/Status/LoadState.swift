/// How much a player has of what it is to play. The bits are those of the KSY player's load states.
public struct LoadState: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// The player is prepared, and can play.
    public static let playable = LoadState(rawValue: 1)
    /// It plays without a wait.
    public static let playthroughOK = LoadState(rawValue: 2)
    /// It waits for media.
    public static let stalled = LoadState(rawValue: 4)

    /// The name of the state that says most; `unknown` if none is set.
    public var name: String {
        if contains(.stalled) { return "stalled" }
        if contains(.playthroughOK) { return "playthroughOK" }
        return contains(.playable) ? "playable" : "unknown"
    }
}

extension PlayerStatus {
    public var load: LoadState {
        switch self {
        case .stopping, .stopped, .preparing: []
        case .ready: .playable
        case .loading, .seeking: .stalled
        case .playing, .paused, .fastForward: [.playable, .playthroughOK]
        }
    }
}
