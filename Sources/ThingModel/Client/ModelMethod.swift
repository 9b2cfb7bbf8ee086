public import IoTCore
public import IoTLink

/// Methods for devices and their thing models; `docs/link.md` and `docs/thing-model.md`.
public enum ModelMethod {
    // MARK: From a user to the hub

    public static let listDevices = LinkMethod<PageQuery, LinkPage<DeviceSummary>>(
        "device.list", user: .oneself(parameter: "user"))
    public static let showDevice = LinkMethod<DeviceReference, DeviceDetails>(
        "device.show", user: .actionOrUnclaimed(.view))
    public static let exportDevice = LinkMethod<DeviceReference, DeviceExport>(
        "device.export", user: .actionOrUnclaimed(.view))
    public static let read = LinkMethod<PropertyQuery, PropertyReading>("property.read", user: .action(.view))
    public static let readMany = LinkMethod<ManyPropertyQuery, DeviceReadings>(
        "property.readMany", user: .eachAction(.view))
    public static let write = LinkMethod<PropertyWrite, WriteOutcome>(
        "property.write", user: .action(.configure), isDurable: true)
    public static let addUserProperty = LinkMethod<UserPropertyAddition, VersionOutcome>(
        "userProperty.add", user: .action(.configure), isDurable: true)
    public static let deleteUserProperty = LinkMethod<UserPropertyDeletion, VersionOutcome>(
        "userProperty.delete", user: .action(.configure), isDurable: true)
    public static let takeAction = LinkMethod<ActionQuery, ActionAnswer>(
        "action.take", user: .action(.control), isDurable: true, longestDeadline: .seconds(600))

    // MARK: From a device to the hub

    public static let login = LinkMethod<ModelLogin, LoginDeliveries>("model.login", device: .device)
    public static let report = LinkMethod<ModelReport, VersionOutcome>("model.report", device: .device, isDurable: true)
    public static let applied = LinkMethod<AppliedProperty, LinkNothing>("model.applied", device: .device)

    // MARK: From the hub to a device

    /// Delivers a written property, which the device applies.
    public static let deliver = LinkMethod<PropertyDelivery, LinkNothing>("model.write")
    public static let carryOut = LinkMethod<ActionOrder, ActionAnswer>(sentOn: takeAction)

    // MARK: Pushes from the hub to users

    /// An object of a document changed.
    public static let update = LinkPushMethod<PropertyUpdateNotice>("property.update")
    /// A device came online or went offline.
    public static let presence = LinkPushMethod<PresenceNotice>("device.presence")
}
