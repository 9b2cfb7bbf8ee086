/// How one packet fared. A failure is a value: strangers cause it at will, so it must cost nothing.
public enum SRTPResult: Sendable, Hashable {
    case success

    /// The tag does not fit: a foreign or damaged packet.
    case authenticationFailed

    /// The packet came before, or is older than the replay window.
    case replayed

    /// Too short, or no packet of this kind.
    case malformed

    /// The keys have protected as many packets as they may (RFC 3711 §9.2); a new handshake is needed.
    case keyExpired

    /// Anything else, with libsrtp's status.
    case failed(status: UInt32)
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
        case .malformed, .keyExpired, .failed: otherFailures += 1
        }
    }
}
