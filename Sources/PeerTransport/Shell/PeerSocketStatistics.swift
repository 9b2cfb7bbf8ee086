/// The statistics of a `PeerSocket`; counters only grow.
public struct PeerSocketStatistics: Sendable, Hashable {
    public var datagramsReceived: UInt64 = 0

    /// Datagrams that belong to no peer, or are of an unknown protocol.
    public var datagramsIgnored: UInt64 = 0

    public var datagramsSent: UInt64 = 0

    /// Datagrams that were dropped because the kernel's buffer and the send queue were full.
    public var datagramsDropped: UInt64 = 0

    /// Datagrams that the kernel refused: no route, or not permitted.
    public var sendErrors: UInt64 = 0
}
