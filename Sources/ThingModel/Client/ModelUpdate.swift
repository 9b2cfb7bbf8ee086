public import IoTCore
import IoTLink

/// A push from the hub about one of the account's devices.
public enum ModelUpdate: Sendable, Hashable {
    /// An object changed: its path, its value (null when deleted), its version, and the changed `leaves`.
    case property(device: DeviceID, PropertyChange)
    case presence(device: DeviceID, isOnline: Bool)

    public var device: DeviceID {
        switch self {
        case .property(let device, _), .presence(let device, _): device
        }
    }

    /// Returns `nil` for any other push, and for a malformed one.
    init?(_ push: LinkPush) {
        if let update = ModelMethod.update.parameters(of: push) {
            var change = PropertyChange(path: update.path, value: update.value, version: update.version)
            change.toldLeaves = update.changes
            self = .property(device: update.device, change)
        } else if let presence = ModelMethod.presence.parameters(of: push) {
            self = .presence(device: presence.device, isOnline: presence.isOnline)
        } else {
            return nil
        }
    }
}
