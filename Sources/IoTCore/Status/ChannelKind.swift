/// The purpose of a channel. The values are the connection types of the IoT video SDK.
public enum ChannelKind: Int, Sendable, Codable, CaseIterable {
    case live = 0
    case monitor = 1
    case playback = 2
    case transmission = 3

    public var name: String { String(describing: self) }
}
