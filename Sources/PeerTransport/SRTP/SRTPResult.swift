/// How one packet fared. A failure is a value: strangers cause it at will, so it must cost nothing.
public enum SRTPResult: Sendable, Hashable {
    case success

    /// The tag does not fit: a foreign or damaged packet.
    case authenticationFailed

    /// The packet came before, or is older than the replay window.
    case replayed

    /// Too short, no packet of this kind, or not encrypted.
    case malformed

    /// The keys have protected as many packets as they may (RFC 3711 §9.2); a new handshake is needed.
    case keyExpired

    /// A sequence number was to be used again for another header: under AES-GCM that would give the
    /// authentication key away (RFC 7714 §8.4). The packet was left alone.
    case sequenceNumberReused

    /// More synchronisation sources than one peer may have.
    case tooManySources

    /// OpenSSL failed, which it does for want of memory alone.
    case failed
}

/// What an `SRTPSession` has refused; each counter only grows.
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
