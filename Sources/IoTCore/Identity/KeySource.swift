/// How a user learned a device's fingerprint, from the weakest way to the strongest.
public enum KeySource: String, Codable, CaseIterable, Sendable, Comparable {
    /// Only the hub reported it.
    case hub
    /// Announced on the local network. Any machine there can forge an announcement.
    case lan
    /// Sent by the device itself in the provisioning session, which the secret on its label protects.
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
