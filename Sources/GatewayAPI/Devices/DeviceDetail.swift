public import IoTCore

/// `GET /v1/devices/{device}`: a device with its thing model as stored by the hub.
public struct DeviceDetail: Codable, Hashable, Sendable {
    public var id: String
    public var name: String
    public var role: String
    public var online: Bool
    public var state: DeviceState
    public var stateSince: Int64?
    public var reason: APIError?
    public var presenceSince: Int64?
    public var actions: [DeviceAction]?
    public var owner: String?
    public var local: Bool?
    /// The whole document: `ProConst`, `ProReadonly`, `ProWritable`, `ProUser`, `Action`.
    public var model: JSONValue
    /// The document's version.
    public var version: Int64
    /// Paths of writes that the device has not applied yet.
    public var pending: [String]
    /// The key with which the device signs; `nil` for a device without one.
    public var key: DeviceKeyDescription?

    public init(
        summary: DeviceSummary, model: JSONValue, version: Int64, pending: [String], key: DeviceKeyDescription? = nil
    ) {
        self.id = summary.id
        self.name = summary.name
        self.role = summary.role
        self.online = summary.online
        self.state = summary.state
        self.stateSince = summary.stateSince
        self.reason = summary.reason
        self.presenceSince = summary.presenceSince
        self.actions = summary.actions
        self.owner = summary.owner
        self.local = summary.local
        self.model = model
        self.version = version
        self.pending = pending
        self.key = key
    }

    public var summary: DeviceSummary {
        var summary = DeviceSummary(
            id: id, name: name, role: role, state: state, stateSince: stateSince, reason: reason?.error,
            presenceSince: presenceSince, actions: actions, owner: owner)
        summary.local = local
        return summary
    }
}
