public import IoTCore
public import IoTLink

/// The parameters of `action.take` from a user to the hub.
public struct ActionQuery: LinkValue, Hashable {
    /// An id or a name.
    public var device: String
    public var path: String
    /// Null when absent.
    public var value: JSONValue
    /// The time that the device has to answer; until the request's deadline when absent.
    public var timeoutMilliseconds: Int64?

    public init(device: String, path: String, value: JSONValue, timeoutMilliseconds: Int64? = nil) {
        self.device = device
        self.path = path
        self.value = value
        self.timeoutMilliseconds = timeoutMilliseconds
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.text("device")
        path = try members.text("path")
        value = members["value"] ?? .null
        timeoutMilliseconds = try members.optionalInteger("timeoutMilliseconds")
    }

    public var json: JSONValue {
        .members([
            "device": .string(device), "path": .string(path), "value": value,
            "timeoutMilliseconds": .whole(timeoutMilliseconds),
        ])
    }
}

/// The parameters of `action.take` from the hub to the device.
public struct ActionOrder: LinkValue, Hashable {
    public var path: String
    public var value: JSONValue
    /// When it was requested, in s since 1970; the device's own time when absent.
    public var t: Int64?
    /// Who requested it: `u/<access id>`.
    public var origin: String

    public init(path: String, value: JSONValue, t: Int64?, origin: String) {
        self.path = path
        self.value = value
        self.t = t
        self.origin = origin
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        path = try members.text("path")
        value = members["value"] ?? .null
        t = try members.optionalInteger("t")
        origin = try members.optionalText("origin") ?? ""
    }

    public var json: JSONValue {
        .members(["path": .string(path), "value": value, "t": .whole(t), "origin": .string(origin)])
    }
}

/// A device's answer to an action.
public struct ActionAnswer: LinkValue, Hashable {
    /// Null when absent.
    public var value: JSONValue

    public init(value: JSONValue) {
        self.value = value
    }

    public init(_ members: LinkMembers) {
        value = members["value"] ?? .null
    }

    public var json: JSONValue { ["value": value] }
}
