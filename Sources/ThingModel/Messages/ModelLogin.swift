public import IoTCore
public import IoTLink

/// The parameters of `model.login`: the schema and the state of a device that came online.
public struct ModelLogin: LinkValue, Hashable {
    public var schema: ThingSchema
    /// The device's `ProConst` values, by name.
    public var constants: [String: JSONValue]
    /// The device's `ProReadonly` objects, `{"stVal":…,"t":…}`, by name.
    public var readonly: [String: JSONValue]
    /// The version that the device has applied, by path (`ProWritable._logLevel`).
    public var writableVersions: [String: Int64]

    public init(
        schema: ThingSchema, constants: [String: JSONValue], readonly: [String: JSONValue],
        writableVersions: [String: Int64]
    ) {
        self.schema = schema
        self.constants = constants
        self.readonly = readonly
        self.writableVersions = writableVersions
    }

    /// Creates a login from the device's own document.
    public init(of document: ThingDocument) {
        var readonly = document.entries[.readonly, default: [:]].mapValues(\.value)
        readonly["_online"] = nil
        self.init(
            schema: document.schema, constants: document.entries[.constant, default: [:]].mapValues(\.value),
            readonly: readonly, writableVersions: document.appliedVersions)
    }

    public var json: JSONValue {
        [
            "schema": schema.vendorForm, "constants": .object(constants), "readonly": .object(readonly),
            "writableVersions": .object(writableVersions.mapValues { .integer($0) }),
        ]
    }

    /// Also throws `valueInvalid` for an invalid schema.
    public init(_ members: LinkMembers) throws(IoTError) {
        let form = try members.value("schema")
        let constants = try members.optionalObject("constants") ?? [:]
        let readonly = try members.optionalObject("readonly") ?? [:]
        var versions: [String: Int64] = [:]
        for (path, version) in try members.optionalObject("writableVersions") ?? [:] {
            guard let number = version.integerValue else {
                throw members.wrong("the version of \(path) must be a whole number")
            }
            versions[path] = number
        }
        self.init(
            schema: try ThingSchema(vendorForm: form), constants: constants, readonly: readonly,
            writableVersions: versions)
    }
}

/// A `ProWritable` object that the device must apply.
public struct Delivery: LinkValue, Hashable {
    /// The whole object, `{"setVal":…,"t":…}`.
    public var value: JSONValue
    public var version: Int64

    public init(value: JSONValue, version: Int64) {
        self.value = value
        self.version = version
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        value = try members.value("value")
        version = try members.integer("version")
    }

    public var json: JSONValue { ["value": value, "version": .integer(version)] }
}

/// The changes that a device's login made to the hub's document, and the settings that the device must apply.
public struct LoginOutcome: Sendable, Hashable {
    public var changes: [PropertyChange]
    public var dropped: [SchemaChange.DroppedValue]
    /// The settings to apply, by name without the class.
    public var writable: [String: Delivery]
}

/// The result of `model.login`: the settings that the device must apply, by name without the class.
public struct LoginDeliveries: LinkValue, Hashable {
    public var writable: [String: Delivery]

    public init(writable: [String: Delivery]) {
        self.writable = writable
    }

    /// Skips malformed settings.
    public init(_ members: LinkMembers) {
        writable = (members["writable"]?.objectValue ?? [:]).compactMapValues { entry in
            try? Delivery(LinkMembers(entry, of: members.method, failure: members.failure))
        }
    }

    public var json: JSONValue { ["writable": .object(writable.mapValues(\.json))] }
}
