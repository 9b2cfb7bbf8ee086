/// The `m=application` section of data channels (RFC 8841).
public struct DataSection: Sendable, Hashable {
    /// The section's name; empty in our own section to use the next free number.
    public var mid: String

    /// `a=sctp-port`.
    public var sctpPort: UInt16

    /// `a=max-message-size`: the longest message that the author accepts, in bytes; 0 for no limit.
    public var maximumMessageSize: Int

    /// True when the section is declined, or offered outside the bundle, which is not supported.
    public var isRejected: Bool

    static let defaultPort: UInt16 = 5000

    /// The limit of a peer that signals none (RFC 8841 §6.1).
    static let defaultMaximumMessageSize = 65_536

    public init(
        mid: String = "", sctpPort: UInt16 = 5000, maximumMessageSize: Int = 262_144, isRejected: Bool = false
    ) {
        self.mid = mid
        self.sctpPort = sctpPort
        self.maximumMessageSize = maximumMessageSize
        self.isRejected = isRejected
    }
}
