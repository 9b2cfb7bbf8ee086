public import IoTCore

/// The parameters of `model.login`: what a device that comes online says of itself.
public struct ModelLogin: Sendable, Hashable {
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

    /// Throws `invalidRequest` for a missing part, `valueInvalid` for a wrong schema.
    public init(json: JSONValue) throws(IoTError) {
        guard let form = json["schema"] else { throw IoTError(.invalidRequest, "model.login lacks its schema") }
        let constants = try Self.object(json, "constants")
        let readonly = try Self.object(json, "readonly")
        var versions: [String: Int64] = [:]
        for (path, version) in try Self.object(json, "writableVersions") {
            guard let number = version.integerValue else {
                throw IoTError(.invalidRequest, "model.login: the version of \(path) must be an integer")
            }
            versions[path] = number
        }
        self.init(
            schema: try ThingSchema(vendorForm: form), constants: constants, readonly: readonly,
            writableVersions: versions)
    }

    private static func object(_ json: JSONValue, _ key: String) throws(IoTError) -> [String: JSONValue] {
        guard let value = json[key] else { return [:] }
        guard let object = value.objectValue else {
            throw IoTError(.invalidRequest, "model.login: \(key) must be an object")
        }
        return object
    }
}

/// A `ProWritable` object that the device must carry out.
public struct Delivery: Sendable, Hashable {
    /// The whole object, `{"setVal":…,"t":…}`.
    public var value: JSONValue
    public var version: Int64

    public init(value: JSONValue, version: Int64) {
        self.value = value
        self.version = version
    }
}

/// What a device's login changed in the hub's document, and what the device must carry out.
public struct LoginOutcome: Sendable, Hashable {
    public var changes: [PropertyChange]
    public var dropped: [SchemaChange.DroppedValue]
    /// By name, without its class.
    public var writable: [String: Delivery]

    /// The result of `model.login`: `{"writable":{name:{"value","version"}}}`.
    public var json: JSONValue {
        [
            "writable": .object(
                writable.mapValues { ["value": $0.value, "version": .integer($0.version)] })
        ]
    }

    /// The deliveries in an answer to `model.login`; what is malformed is left out.
    static func deliveries(in result: JSONValue) -> [String: Delivery] {
        (result["writable"]?.objectValue ?? [:]).compactMapValues { entry in
            guard let value = entry["value"], let version = entry["version"]?.integerValue else { return nil }
            return Delivery(value: value, version: version)
        }
    }
}
