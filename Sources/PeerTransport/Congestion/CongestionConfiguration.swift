public import NIOCore

/// How a connection estimates the capacity of its path to the peer, and how it stays within it.
public struct CongestionConfiguration: Sendable, Hashable {
    /// False sends each packet at once and estimates nothing. Default true.
    public var isEnabled = true

    /// Bits per second until the capacity has been measured. Default 10 Mbit/s: a camera's first burst confirms or
    /// refutes it within a round trip.
    public var initialBitrate = 10_000_000

    /// The bounds of the estimate. Default 100 kbit/s and 200 Mbit/s.
    public var minimumBitrate = 100_000
    public var maximumBitrate = 200_000_000

    /// The most that the pacer may hold, as the time that it takes to send it. Default 1 s. Above it, a video track's
    /// frames are refused, from the next frame up to its next key frame.
    public var maximumPacingDelay = TimeAmount.seconds(1)

    public init() {}
}
