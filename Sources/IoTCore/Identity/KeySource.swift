/// How a user learned a device's fingerprint, from the weakest way to the strongest.
public enum KeySource: String, Codable, CaseIterable, Sendable, Comparable {
    /// The hub said so, and nobody else.
    case hub
    /// Seen on the local network, in an announcement that anybody there could have made.
    case lan
    /// From the device itself, in the session of its access point that the secret on its label protects.
    case ap

    public static func < (left: KeySource, right: KeySource) -> Bool {
        left.strength < right.strength
    }

    private var strength: Int {
        switch self {
        case .hub: 0
        case .lan: 1
        case .ap: 2
        }
    }
}
