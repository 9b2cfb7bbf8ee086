public import IoTCore
public import IoTLink

/// Devices and their thing models; `docs/link.md` and `docs/thing-model.md`.
public enum ModelMethod {
    // MARK: A user asks the hub

    public static let listDevices = LinkMethod<JSONValue, JSONValue>(
        "device.list", user: .oneself(parameter: "user"))
    public static let showDevice = LinkMethod<JSONValue, JSONValue>("device.show", user: .actionOrUnclaimed(.view))
    public static let exportDevice = LinkMethod<JSONValue, JSONValue>(
        "device.export", user: .actionOrUnclaimed(.view))
    public static let read = LinkMethod<PropertyQuery, PropertyReading>("property.read", user: .action(.view))
    public static let readMany = LinkMethod<JSONValue, JSONValue>("property.readMany", user: .eachAction(.view))
    public static let write = LinkMethod<PropertyWrite, WriteOutcome>(
        "property.write", user: .action(.configure), isDurable: true)
    public static let addUserProperty = LinkMethod<UserPropertyAddition, UserPropertyOutcome>(
        "userProperty.add", user: .action(.configure), isDurable: true)
    public static let deleteUserProperty = LinkMethod<UserPropertyDeletion, UserPropertyOutcome>(
        "userProperty.delete", user: .action(.configure), isDurable: true)
    public static let takeAction = LinkMethod<JSONValue, JSONValue>(
        "action.take", user: .action(.control), isDurable: true, longestDeadline: .seconds(600))

    // MARK: A device asks the hub

    public static let login = LinkMethod<JSONValue, JSONValue>("model.login", device: .device)
    public static let report = LinkMethod<JSONValue, JSONValue>("model.report", device: .device, isDurable: true)
    public static let applied = LinkMethod<JSONValue, JSONValue>("model.applied", device: .device)

    // MARK: The hub asks a device

    /// Carry out a written property.
    public static let deliver = LinkMethod<JSONValue, JSONValue>("model.write")
    public static let carryOut = LinkMethod<JSONValue, JSONValue>(sentOn: takeAction)

    // MARK: The hub pushes to users

    /// An object of a document changed.
    public static let update = LinkPushMethod<JSONValue>("property.update")
    /// A device came or went.
    public static let presence = LinkPushMethod<JSONValue>("device.presence")
}
