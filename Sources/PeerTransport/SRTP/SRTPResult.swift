/// The result for one packet. A failure is a value, because strangers cause failures at will, so they must be cheap.
public enum SRTPResult: Sendable, Hashable {
    case success

    /// The tag does not match: a foreign or corrupt packet.
    case authenticationFailed

    /// The packet was already received, or is older than the replay window.
    case replayed

    /// Too short, not a packet of this kind, or not encrypted.
    case malformed

    /// The keys have protected the maximum number of packets (RFC 3711 §9.2); a new handshake is needed.
    case keyExpired

    /// A sequence number was reused with another header, which under AES-GCM would reveal the authentication key
    /// (RFC 7714 §8.4). The packet is unchanged.
    case sequenceNumberReused

    /// More synchronization sources than the limit for one peer.
    case tooManySources

    /// OpenSSL failed, which happens only when memory runs out.
    case failed
}

/// The packets that an `SRTPSession` has refused; the counters only grow.
public struct SRTPStatistics: Sendable, Hashable {
    public var authenticationFailures: UInt64 = 0
    public var replays: UInt64 = 0
    public var otherFailures: UInt64 = 0

    public init() {}

    mutating func count(_ result: SRTPResult) {
        switch result {
        case .success: break
        case .authenticationFailed: authenticationFailures += 1
        case .replayed: replays += 1
        case .malformed, .keyExpired, .sequenceNumberReused, .tooManySources, .failed: otherFailures += 1
        }
    }
}
