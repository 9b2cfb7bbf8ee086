public import NIOCore

/// How a connection finds out what its way to the peer carries, and how it keeps to that.
public struct CongestionConfiguration: Sendable, Hashable {
    /// False sends each packet at once and estimates nothing. Default true.
    public var isEnabled = true

    /// Bits a second until the way has shown what it carries. Default 10 Mbit/s, which a camera's first burst either
    /// proves or refutes within a round trip.
    public var initialBitrate = 10_000_000

    /// The estimate never leaves these bounds. Default 100 kbit/s and 200 Mbit/s.
    public var minimumBitrate = 100_000
    public var maximumBitrate = 200_000_000

    /// What the pacer may hold, as the time that it takes to send it. Default 1 s. When it holds more, a video
    /// track's frames are refused from the next frame on up to its next key frame.
    public var maximumPacingDelay = TimeAmount.seconds(1)

    public init() {}
}
