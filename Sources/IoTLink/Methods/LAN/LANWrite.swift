public import IoTCore

/// The parameters of `lan.written`.
public struct LANWrite: LinkValue, Hashable {
    /// The user who wrote it.
    public var user: Principal
    public var path: String
    public var value: JSONValue
    /// When it was written: s since 1970. The newest write of a property counts.
    public var t: Int64

    public init(user: Principal, path: String, value: JSONValue, t: Int64) {
        self.user = user
        self.path = path
        self.value = value
        self.t = t
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        user = try members.principal("user")
        path = try members.text("path")
        value = try members.value("value")
        t = try members.integer("t")
    }

    public var json: JSONValue {
        ["user": .string(user.description), "path": .string(path), "value": value, "t": .integer(t)]
    }
}

/// `device.rightsWithdrawn`: grants that the hub issued until then are no longer valid.
public struct RightsWithdrawn: LinkValue, Hashable {
    /// s since 1970.
    public var until: Int64
    /// The user whose rights were withdrawn.
    public var user: Principal

    public init(until: Int64, user: Principal) {
        self.until = until
        self.user = user
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        until = try members.integer("until")
        user = try members.principal("user")
    }

    public var json: JSONValue { ["until": .integer(until), "user": .string(user.description)] }
}
