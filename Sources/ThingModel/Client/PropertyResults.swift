public import IoTCore
public import IoTLink

/// `property.read`
extension PropertyReading: LinkValue {
    public init(_ members: LinkMembers) throws(IoTError) {
        self.init(value: try members.value("value"), version: try members.integer("version"))
    }

    public var json: JSONValue { ["value": value, "version": .integer(version)] }
}

/// The result of `property.write`.
public struct WriteOutcome: LinkValue, Hashable {
    /// The property's new version.
    public var version: Int64
    /// The object after the write.
    public var value: JSONValue
    /// Whether the device has not applied it yet.
    public var isPending: Bool

    public init(version: Int64, value: JSONValue, isPending: Bool) {
        self.version = version
        self.value = value
        self.isPending = isPending
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        version = try members.integer("version")
        value = try members.value("value")
        isPending = try members.flag("pending")
    }

    public var json: JSONValue { ["version": .integer(version), "value": value, "pending": .bool(isPending)] }
}

/// The result of adding or deleting a user property, or of a device's report.
public struct VersionOutcome: LinkValue, Hashable {
    /// The new version of the property, or of the document.
    public var version: Int64

    public init(version: Int64) {
        self.version = version
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        version = try members.integer("version")
    }

    public var json: JSONValue { ["version": .integer(version)] }
}
