public import IoTCore

/// Methods for devices and their bindings.
public enum DeviceMethod {
    public static let create = LinkMethod<DeviceCreation, DeviceResponse>(
        "device.create", user: .administrator, isDurable: true)
    public static let rename = LinkMethod<DeviceRenaming, LinkNothing>(
        "device.rename", user: .actionOrUnclaimed(.configure), isDurable: true)
    public static let remove = LinkMethod<DeviceReference, DeviceRemoval>(
        "device.remove", user: .owner, isDurable: true)
    public static let bind = LinkMethod<BindingGrant, BindingResponse>("device.bind", user: .owner, isDurable: true)
    public static let unbind = LinkMethod<BindingReference, LinkNothing>(
        "device.unbind", user: .ownBinding, isDurable: true)
    public static let users = LinkMethod<DeviceReference, BindingLines>("device.users", user: .owner)
    /// Creates a token with which another account binds itself.
    public static let share = LinkMethod<ShareGrant, ShareResponse>("device.share", user: .owner)
    public static let subscribe = LinkMethod<TokenText, BindingResponse>(
        "device.subscribe", user: .account, isDurable: true)
    /// Checks or changes the device's LAN access password. The hub forwards the passwords and does not store them. This is
    /// not an action of the model, because every user of the device can read the model's values.
    public static let lanPassword = LinkMethod<LANPasswordQuery, LANPasswordAnswer>(
        "device.lanPassword", user: .action(.configure), longestDeadline: .seconds(60))
    /// The same method, from the hub to the device.
    public static let handleLANPassword = LinkMethod<LANPasswordOrder, LANPasswordAnswer>(sentOn: lanPassword)

    /// Sent to the account of the binding; also when its role, its actions or the device's name changed.
    public static let bound = LinkPushMethod<BoundNotice>("device.bound")
    public static let unbound = LinkPushMethod<UnboundNotice>("device.unbound")
    /// Sent to the device.
    public static let owned = LinkPushMethod<OwnedNotice>("device.owned")
}
