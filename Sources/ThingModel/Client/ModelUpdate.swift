public import IoTCore
import IoTLink

/// What the hub tells of an account's devices without being asked.
public enum ModelUpdate: Sendable, Hashable {
    /// An object changed: its path, itself (null when deleted), its version, and `leaves`: what of it changed.
    case property(device: DeviceID, PropertyChange)
    case presence(device: DeviceID, isOnline: Bool)

    public var device: DeviceID {
        switch self {
        case .property(let device, _), .presence(let device, _): device
        }
    }

    /// `nil` for a push that is not of the model, or is damaged.
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
