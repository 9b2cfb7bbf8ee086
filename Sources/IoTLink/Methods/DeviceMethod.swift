public import IoTCore

/// Devices as such, and who is bound to them.
public enum DeviceMethod {
    public static let create = LinkMethod<DeviceCreation, DeviceResponse>(
        "device.create", user: .administrator, isDurable: true)
    public static let rename = LinkMethod<DeviceRenaming, LinkNothing>(
        "device.rename", user: .actionOrUnclaimed(.configure), isDurable: true)
    public static let remove = LinkMethod<DeviceReference, LinkNothing>("device.remove", user: .owner, isDurable: true)
    public static let bind = LinkMethod<BindingGrant, BindingResponse>("device.bind", user: .owner, isDurable: true)
    public static let unbind = LinkMethod<BindingReference, LinkNothing>(
        "device.unbind", user: .ownBinding, isDurable: true)
    public static let users = LinkMethod<DeviceReference, BindingLines>("device.users", user: .owner)
    /// A token by which others bind themselves.
    public static let share = LinkMethod<ShareGrant, ShareResponse>("device.share", user: .owner)
    public static let subscribe = LinkMethod<TokenText, BindingResponse>(
        "device.subscribe", user: .account, isDurable: true)

    /// To the account concerned, also when its role, actions or the device's name changed.
    public static let bound = LinkPushMethod<BoundNotice>("device.bound")
    public static let unbound = LinkPushMethod<UnboundNotice>("device.unbound")
}
