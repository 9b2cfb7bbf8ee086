public import IoTCore
public import NIOCore

/// The stages of one play, numbered as in the IoT video SDK guide. The last four may come in another order.
public enum PlayStage: Int, Sendable, CaseIterable {
    case created = 1
    case connecting
    case connected
    /// The tracks are known.
    case header
    case decoders
    /// The sinks have started, or nothing reads the decoded media.
    case sinks
    /// Coded frames arrive.
    case received
    case decoded
    /// Pictures are shown, or sound is heard.
    case shown
    case disconnecting
    case decodersClosed
    case sinksClosed
    case released

    public var name: String { String(describing: self) }
}

/// One stage that a player has reached.
public struct StageEntry: Sendable, Hashable {
    public var stage: PlayStage
    /// `nil` for a stage of both tracks together.
    public var track: MediaKind?
    /// Since the player was created.
    public var time: TimeAmount
    /// What is known at that moment. Names and numbers are those of the guide's log where it has them.
    public var facts: [String: JSONValue]
}
