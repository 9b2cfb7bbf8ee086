/// The `m=application` section of data channels (RFC 8841).
public struct DataSection: Sendable, Hashable {
    /// The section's name; empty in a section of ours for the next free number.
    public var mid: String

    /// `a=sctp-port`.
    public var sctpPort: UInt16

    /// `a=max-message-size`: the greatest message that the author takes, in bytes; 0 for any.
    public var maximumMessageSize: Int

    /// Declined, or offered in a way that cannot be used here: outside the bundle.
    public var isRejected: Bool

    static let defaultPort: UInt16 = 5000

    /// Of a peer that names none (RFC 8841 §6.1).
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
