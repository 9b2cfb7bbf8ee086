public import IoTCore
public import IoTLink

/// The parameters of `model.report`. The hub stores all of the changes, or none.
public struct ModelReport: LinkValue, Hashable {
    private static let mostChanges = 256

    public struct Change: LinkValue, Hashable {
        public var path: String
        public var value: JSONValue

        public init(path: String, value: JSONValue) {
            self.path = path
            self.value = value
        }

        public init(_ members: LinkMembers) throws(IoTError) {
            guard let path = members["path"]?.stringValue, let value = members["value"] else {
                throw members.wrong("each of 'changes' must have 'path' and 'value'")
            }
            self.init(path: path, value: value)
        }

        public var json: JSONValue { ["path": .string(path), "value": value] }
    }

    public var changes: [Change]

    public init(changes: [Change]) {
        self.changes = changes
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        changes = try members.list("changes", of: Change.self, atMost: Self.mostChanges)
    }

    public var json: JSONValue { ["changes": .array(changes.map(\.json))] }
}

/// The parameters of `model.applied`: the device has applied this version of a written property.
public struct AppliedProperty: LinkValue, Hashable {
    public var path: String
    public var version: Int64

    public init(path: String, version: Int64) {
        self.path = path
        self.version = version
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        path = try members.text("path")
        version = try members.integer("version")
    }

    public var json: JSONValue { ["path": .string(path), "version": .integer(version)] }
}

/// The parameters of `model.write`: the newest value of a property, from the hub to the device.
public struct PropertyDelivery: LinkValue, Hashable {
    public var path: String
    public var delivery: Delivery

    public init(path: String, delivery: Delivery) {
        self.path = path
        self.delivery = delivery
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        path = try members.text("path")
        delivery = try Delivery(members)
    }

    public var json: JSONValue {
        var json = delivery.json
        json["path"] = .string(path)
        return json
    }
}
