/// What a channel is for; the values are the IoT video SDK's connection types.
public enum ChannelKind: Int, Sendable, Codable, CaseIterable {
    case live = 0
    case monitor = 1
    case playback = 2
    case transmission = 3

    public var name: String { String(describing: self) }
}
