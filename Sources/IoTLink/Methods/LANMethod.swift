/// Access to a device over its own network, without the hub (`docs/lan.md`).
public enum LANMethod {
    /// From a user to the hub: issues a grant for the user's gateway.
    public static let grant = LinkMethod<LANGrantQuery, LANGrant>("lan.grant", user: .bound)
    /// From a gateway to a device, as the first request of a connection.
    public static let begin = LinkMethod<LANGrantText, LinkNothing>("lan.begin")
    /// From a device to the hub: a value that a user has written over the network while the hub was away.
    public static let written = LinkMethod<LANWrite, LinkNothing>("lan.written", device: .device, isDurable: true)
    /// From the hub to a device: somebody's rights to it were withdrawn.
    public static let withdrawn = LinkPushMethod<RightsWithdrawn>("device.rightsWithdrawn")
    /// From the hub to a user: another user has lost rights to a device. All earlier grants for the device are invalid.
    public static let ended = LinkPushMethod<DeviceReference>("device.grantsEnded")
}
