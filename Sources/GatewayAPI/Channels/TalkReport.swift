/// The answer of `POST /v1/channels/{id}/talk`: what was said.
public struct TalkReport: Codable, Hashable, Sendable {
    /// Seconds.
    public var duration: Double
    /// Packets of 20 ms that were sent; silence is not sent.
    public var packets: Int
    /// How often the source was late, so that silence was sent.
    public var underruns: Int

    public init(duration: Double, packets: Int, underruns: Int) {
        self.duration = duration
        self.packets = packets
        self.underruns = underruns
    }
}

/// Whether the channel's user can talk to the device, and does.
public struct TalkState: Codable, Hashable, Sendable {
    /// The device has a loudspeaker, and the account may talk.
    public var offered: Bool
    public var talking: Bool

    public init(offered: Bool, talking: Bool) {
        self.offered = offered
        self.talking = talking
    }
}
