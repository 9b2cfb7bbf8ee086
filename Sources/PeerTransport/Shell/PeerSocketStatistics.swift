/// What a `PeerSocket` has counted; counters only grow.
public struct PeerSocketStatistics: Sendable, Hashable {
    public var datagramsReceived: UInt64 = 0

    /// From nobody that a peer knows, or of no known protocol.
    public var datagramsIgnored: UInt64 = 0

    public var datagramsSent: UInt64 = 0

    /// Dropped because the kernel took no more and the queue behind it was full.
    public var datagramsDropped: UInt64 = 0

    /// Refused by the kernel: no route, or forbidden.
    public var sendErrors: UInt64 = 0
}
