public import IoTCore

/// A device as `device.list` shows it.
public struct DeviceSummary: Sendable, Hashable {
    public var id: DeviceID
    public var name: String
    /// What the account may do with it: `owner`, or a lesser role.
    public var role: String
    public var isOnline: Bool
    /// Since when it is online or offline, as the hub gave it; `nil` when it was never there.
    public var presenceSince: Int64?

    /// `nil` for an answer that is no device.
    public init?(json: JSONValue) {
        guard let id = json["id"]?.stringValue.flatMap(DeviceID.init(rawValue:)) else { return nil }
        self.id = id
        name = json["name"]?.stringValue ?? id.rawValue
        role = json["role"]?.stringValue ?? ""
        isOnline = json["online"]?.boolValue ?? false
        presenceSince = json["presenceSince"]?.integerValue
    }
}

/// A device as `device.show` shows it.
public struct DeviceDetails: Sendable, Hashable {
    public var summary: DeviceSummary
    /// The whole model.
    public var model: JSONValue
    /// The document's version.
    public var version: Int64
    /// The `ProWritable` objects that the device has yet to carry out.
    public var pending: [String]
}
