import IoTCore

/// Why the hub ended a session.
public enum LinkKickReason: String, Sendable, Codable {
    /// A newer registration of the same principal took over.
    case superseded
    /// The account or the device was removed.
    case removed
    /// The token was revoked.
    case revoked
    /// No reason, or one that this version does not know.
    case unknown

    /// - Parameter word: the hub's reason.
    func error(word: String?) -> IoTError {
        switch self {
        case .superseded:
            IoTError(.linkUnavailable, "a newer registration took over (superseded): register again to take it back")
        case .removed:
            IoTError(.linkUnavailable, "the hub removed this account or device (removed): join again")
        case .revoked:
            IoTError(.tokenRejected, "the token was revoked (revoked): get a new one, then register again")
        case .unknown:
            IoTError(.linkUnavailable, "the hub ended the session (\(word ?? "no reason given")): register again")
        }
    }
}
