public import IoTCore

/// Devices as such, and who is bound to them.
public enum DeviceMethod {
    public static let create = LinkMethod<JSONValue, JSONValue>(
        "device.create", user: .administrator, isDurable: true)
    public static let rename = LinkMethod<JSONValue, JSONValue>(
        "device.rename", user: .actionOrUnclaimed(.configure), isDurable: true)
    public static let remove = LinkMethod<JSONValue, JSONValue>("device.remove", user: .owner, isDurable: true)
    public static let bind = LinkMethod<JSONValue, JSONValue>("device.bind", user: .owner, isDurable: true)
    public static let unbind = LinkMethod<JSONValue, JSONValue>("device.unbind", user: .ownBinding, isDurable: true)
    public static let users = LinkMethod<JSONValue, JSONValue>("device.users", user: .owner)
    /// A token by which others bind themselves.
    public static let share = LinkMethod<JSONValue, JSONValue>("device.share", user: .owner)
    public static let subscribe = LinkMethod<JSONValue, JSONValue>("device.subscribe", user: .account, isDurable: true)

    /// To the account concerned, also when its role, actions or the device's name changed.
    public static let bound = LinkPushMethod<JSONValue>("device.bound")
    public static let unbound = LinkPushMethod<JSONValue>("device.unbound")
}
