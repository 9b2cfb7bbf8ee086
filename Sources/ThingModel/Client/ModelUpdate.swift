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
        guard let device = push.params["device"]?.stringValue.flatMap(DeviceID.init(rawValue:)) else { return nil }
        switch push.method {
        case ModelMethod.update.name:
            guard let path = push.params["path"]?.stringValue, let version = push.params["version"]?.integerValue
            else { return nil }
            var change = PropertyChange(path: path, value: push.params["value"] ?? .null, version: version)
            change.toldLeaves = push.params["changes"]?.arrayValue?.compactMap(LeafChange.init(json:))
            self = .property(device: device, change)
        case ModelMethod.presence.name:
            guard let isOnline = push.params["online"]?.boolValue else { return nil }
            self = .presence(device: device, isOnline: isOnline)
        default: return nil
        }
    }
}
