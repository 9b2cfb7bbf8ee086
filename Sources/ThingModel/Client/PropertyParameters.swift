public import IoTCore
public import IoTLink

/// The parameters of `property.read`.
public struct PropertyQuery: LinkValue, Hashable {
    /// An id or a name, here and in the types below.
    public var device: String
    public var path: String

    public init(device: String, path: String) {
        self.device = device
        self.path = path
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.text("device")
        path = try members.text("path")
    }

    public var json: JSONValue { ["device": .string(device), "path": .string(path)] }
}

/// The parameters of `property.write`.
public struct PropertyWrite: LinkValue, Hashable {
    public var device: String
    public var path: String
    public var value: JSONValue
    /// Write only if the property has this version.
    public var ifVersion: Int64?

    public init(device: String, path: String, value: JSONValue, ifVersion: Int64? = nil) {
        self.device = device
        self.path = path
        self.value = value
        self.ifVersion = ifVersion
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.text("device")
        path = try members.text("path")
        value = try members.value("value")
        ifVersion = try members.optionalInteger("ifVersion")
    }

    public var json: JSONValue {
        var json: JSONValue = ["device": .string(device), "path": .string(path), "value": value]
        json["ifVersion"] = ifVersion.map { .integer($0) }
        return json
    }
}

/// The parameters of `userProperty.add`.
public struct UserPropertyAddition: LinkValue, Hashable {
    public var device: String
    /// Without its class.
    public var name: String
    public var value: JSONValue
    public var ifVersion: Int64?

    public init(device: String, name: String, value: JSONValue, ifVersion: Int64? = nil) {
        self.device = device
        self.name = name
        self.value = value
        self.ifVersion = ifVersion
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.text("device")
        name = try members.text("name")
        value = try members.value("value")
        ifVersion = try members.optionalInteger("ifVersion")
    }

    public var json: JSONValue {
        var json: JSONValue = ["device": .string(device), "name": .string(name), "value": value]
        json["ifVersion"] = ifVersion.map { .integer($0) }
        return json
    }
}

/// The parameters of `userProperty.delete`.
public struct UserPropertyDeletion: LinkValue, Hashable {
    public var device: String
    public var name: String
    public var ifVersion: Int64?

    public init(device: String, name: String, ifVersion: Int64? = nil) {
        self.device = device
        self.name = name
        self.ifVersion = ifVersion
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.text("device")
        name = try members.text("name")
        ifVersion = try members.optionalInteger("ifVersion")
    }

    public var json: JSONValue {
        var json: JSONValue = ["device": .string(device), "name": .string(name)]
        json["ifVersion"] = ifVersion.map { .integer($0) }
        return json
    }
}
