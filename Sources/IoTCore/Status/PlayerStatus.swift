/// The state of a player. The values are those of the IoT video SDK guide.
public enum PlayerStatus: Int, Sendable, Codable, CaseIterable {
    case stopping = -1
    case stopped = 0
    case preparing = 1
    case ready = 2
    case loading = 3
    case playing = 4
    case paused = 5
    case fastForward = 6
    case seeking = 7

    public var name: String { String(describing: self) }
}
