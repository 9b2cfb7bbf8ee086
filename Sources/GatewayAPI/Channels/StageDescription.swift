public import IoTCore

/// One of the thirteen stages of a play, when it was first reached.
public struct StageDescription: Codable, Hashable, Sendable {
    /// 1 created, 2 connecting, 3 connected, 4 header, 5 decoders, 6 sinks, 7 received, 8 decoded, 9 shown, 10
    /// disconnecting, 11 decodersClosed, 12 sinksClosed, 13 released.
    public var stage: Int
    public var name: String
    /// Absent for a stage of both tracks together.
    public var track: MediaKind?
    /// Seconds since stage 1.
    public var time: Double
    public var facts: JSONValue

    public init(stage: Int, name: String, track: MediaKind? = nil, time: Double, facts: JSONValue = [:]) {
        self.stage = stage
        self.name = name
        self.track = track
        self.time = time
        self.facts = facts
    }
}
