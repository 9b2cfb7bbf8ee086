public import IoTCore
public import IoTLink

/// Devices and their thing models; `docs/link.md` and `docs/thing-model.md`.
public enum ModelMethod {
    // MARK: A user asks the hub

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

    // MARK: A device asks the hub

    public static let login = LinkMethod<ModelLogin, LoginDeliveries>("model.login", device: .device)
    public static let report = LinkMethod<ModelReport, VersionOutcome>("model.report", device: .device, isDurable: true)
    public static let applied = LinkMethod<AppliedProperty, LinkNothing>("model.applied", device: .device)

    // MARK: The hub asks a device

    /// Carry out a written property.
    public static let deliver = LinkMethod<PropertyDelivery, LinkNothing>("model.write")
    public static let carryOut = LinkMethod<ActionOrder, ActionAnswer>(sentOn: takeAction)

    // MARK: The hub pushes to users

    /// An object of a document changed.
    public static let update = LinkPushMethod<PropertyUpdateNotice>("property.update")
    /// A device came or went.
    public static let presence = LinkPushMethod<PresenceNotice>("device.presence")
}
