public import NIOCore

/// What was sent in a talk.
public struct TalkSummary: Sendable, Hashable {
    /// How long the talk took.
    public var duration: TimeAmount = .zero
    /// Packets of 20 ms; silence is not sent.
    public var packets = 0
    /// How often the source was late, so that silence was sent.
    public var underruns = 0
}
