public import IoTCore

/// The parameters of a method that needs only a device.
public struct DeviceReference: LinkValue, Hashable {
    /// An id or a name, here and in the types below.
    public var device: String

    public init(device: String) {
        self.device = device
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.text("device")
    }

    public var json: JSONValue { ["device": .string(device)] }
}

/// The result of `device.remove`.
public struct DeviceRemoval: LinkValue, Hashable {
    /// The id of the removed device; `nil` from an older hub.
    public var device: DeviceID?

    public init(device: DeviceID?) {
        self.device = device
    }

    public init(_ members: LinkMembers) {
        device = members["device"]?.stringValue.flatMap { DeviceID(rawValue: $0) }
    }

    public var json: JSONValue { .members(["device": .text(device?.rawValue)]) }
}

/// The parameters of `device.create`.
public struct DeviceCreation: LinkValue, Hashable {
    public var name: String
    public var owner: AccessID?

    public init(name: String, owner: AccessID? = nil) {
        self.name = name
        self.owner = owner
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        name = try members.text("name")
        owner = try members.optionalAccessID("owner")
    }

    public var json: JSONValue { .members(["name": .string(name), "owner": .text(owner?.rawValue)]) }
}

/// The parameters of `device.rename`.
public struct DeviceRenaming: LinkValue, Hashable {
    public var device: String
    public var name: String

    public init(device: String, name: String) {
        self.device = device
        self.name = name
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.text("device")
        name = try members.text("name")
    }

    public var json: JSONValue { ["device": .string(device), "name": .string(name)] }
}
