public import IoTCore
public import IoTLink

/// `property.update`: an object of a document changed.
public struct PropertyUpdateNotice: LinkValue, Hashable {
    public var device: DeviceID
    public var path: String
    /// The whole object; null when it was deleted.
    public var value: JSONValue
    public var version: Int64
    /// The leaves that changed; `nil` when they would not fit.
    public var changes: [LeafChange]?

    public init(device: DeviceID, _ change: PropertyChange, hasLeaves: Bool) {
        self.device = device
        path = change.path
        value = change.value
        version = change.version
        changes = hasLeaves ? change.leaves : nil
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.deviceID("device")
        path = try members.text("path")
        value = members["value"] ?? .null
        version = try members.integer("version")
        changes = members["changes"]?.arrayValue?.compactMap(LeafChange.init(json:))
    }

    public var json: JSONValue {
        .members([
            "device": .string(device.rawValue), "path": .string(path), "value": value, "version": .integer(version),
            "changes": changes.map { .array($0.map(\.json)) },
        ])
    }
}

/// `device.presence`: a device came online or went offline.
public struct PresenceNotice: LinkValue, Hashable {
    public var device: DeviceID
    public var isOnline: Bool
    /// When it came online or went offline, in ms since 1970.
    public var presenceSince: Int64?

    public init(device: DeviceID, isOnline: Bool, presenceSince: Int64? = nil) {
        self.device = device
        self.isOnline = isOnline
        self.presenceSince = presenceSince
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.deviceID("device")
        guard let isOnline = try members.optionalFlag("online") else { throw members.wrong("online", "true or false") }
        self.isOnline = isOnline
        presenceSince = try members.optionalInteger("presenceSince")
    }

    public var json: JSONValue {
        .members([
            "device": .string(device.rawValue), "online": .bool(isOnline), "presenceSince": .whole(presenceSince),
        ])
    }
}
