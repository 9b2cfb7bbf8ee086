public import IoTCore
public import IoTLink

/// The parameters of `model.login`: what a device that comes online says of itself.
public struct ModelLogin: LinkValue, Hashable {
    public var schema: ThingSchema
    /// The device's `ProConst`: by name, the value.
    public var constants: [String: JSONValue]
    /// The device's `ProReadonly`: by name, `{"stVal":…,"t":…}`.
    public var readonly: [String: JSONValue]
    /// By path (`ProWritable._logLevel`), the version that the device carries out.
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

    /// A device's login from its own document.
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

    /// Throws `valueInvalid`, too, for a wrong schema.
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

/// A `ProWritable` object that the device must carry out.
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

/// What a device's login changed in the hub's document, and what the device must carry out.
public struct LoginOutcome: Sendable, Hashable {
    public var changes: [PropertyChange]
    public var dropped: [SchemaChange.DroppedValue]
    /// By name, without its class.
    public var writable: [String: Delivery]
}

/// What `model.login` answers: by name, without its class, what the device must carry out.
public struct LoginDeliveries: LinkValue, Hashable {
    public var writable: [String: Delivery]

    public init(writable: [String: Delivery]) {
        self.writable = writable
    }

    /// What is malformed is left out.
    public init(_ members: LinkMembers) {
        writable = (members["writable"]?.objectValue ?? [:]).compactMapValues { entry in
            try? Delivery(LinkMembers(entry, of: members.method, failure: members.failure))
        }
    }

    public var json: JSONValue { ["writable": .object(writable.mapValues(\.json))] }
}
