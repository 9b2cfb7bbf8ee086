public import IoTCore

/// One object of a document, as a row of a database.
public struct StoredProperty: Sendable, Hashable {
    /// `ProWritable._logLevel`
    public var path: String
    /// The whole object, `{"setVal":0,"t":0}`.
    public var value: JSONValue
    public var version: Int64
    /// The version that the device has applied; `nil` when unknown, and for all classes but `ProWritable`.
    public var appliedVersion: Int64?

    public init(path: String, value: JSONValue, version: Int64, appliedVersion: Int64? = nil) {
        self.path = path
        self.value = value
        self.version = version
        self.appliedVersion = appliedVersion
    }
}

extension ThingDocument {
    /// Every object of the document, for storing it.
    public var storedProperties: [StoredProperty] {
        entries.sorted { $0.key < $1.key }.flatMap { propertyClass, objects in
            objects.sorted { $0.key < $1.key }.map { name, entry in
                StoredProperty(
                    path: "\(propertyClass.rawValue).\(name)", value: entry.value, version: entry.version,
                    appliedVersion: entry.appliedVersion)
            }
        }
    }

    /// Creates a document from its stored schema, version and objects.
    ///
    /// Throws `storeFailed` for an invalid row.
    public init(schema: ThingSchema, version: Int64, properties: [StoredProperty]) throws(IoTError) {
        var failure: IoTError?
        self.init(schema: schema, version: version, properties: properties) { property, reason in
            failure = IoTError(.storeFailed, "the stored property '\(property.path)' \(reason)")
        }
        if let failure { throw failure }
    }

    /// Creates a document from the valid rows. Of two rows for the same object, with different spellings of its name,
    /// the newer one is used.
    ///
    /// - Parameter setAside: called with each other row and its fault, which is worded to follow the row's path.
    public init(
        schema: ThingSchema, version: Int64, properties: [StoredProperty],
        setAside: (StoredProperty, String) -> Void
    ) {
        var entries = ThingDocument(schema: schema).entries
        var rows: [PropertyClass: [String: StoredProperty]] = [:]
        for property in properties {
            guard let path = try? PropertyPath(parsing: property.path), let propertyClass = path.propertyClass,
                let name = path.object, path.members.isEmpty
            else {
                setAside(property, "is not the path of a property")
                continue
            }
            guard property.version <= version, propertyClass == .user || schema[propertyClass, name] != nil else {
                setAside(property, "is not of this document")
                continue
            }
            if let other = rows[propertyClass]?[name] {
                let isNewer = property.version > other.version
                setAside(isNewer ? other : property, "is another spelling of a newer row's path")
                guard isNewer else { continue }
            }
            // Remove it first, because a dictionary keeps an equal key that it has. So the row's spelling is used.
            rows[propertyClass]?[name] = nil
            rows[propertyClass, default: [:]][name] = property
        }
        for (propertyClass, objects) in rows {
            for (name, property) in objects {
                entries[propertyClass]?[name] = nil
                entries[propertyClass, default: [:]][name] = Entry(
                    value: property.value, version: property.version, appliedVersion: property.appliedVersion)
            }
        }
        self.init(schema: schema, version: version, entries: entries)
    }

    /// The schema, version and objects as one value. `init(json:)` reads it.
    public var json: JSONValue {
        let objects = storedProperties.map { property in
            var object: JSONValue = [
                "path": .string(property.path), "value": property.value, "version": .integer(property.version),
            ]
            object["applied"] = property.appliedVersion.map { .integer($0) }
            return object
        }
        return ["schema": schema.vendorForm, "version": .integer(version), "objects": .array(objects)]
    }

    public init(json: JSONValue) throws(IoTError) {
        guard let form = json["schema"], let version = json["version"]?.integerValue,
            let objects = json["objects"]?.arrayValue
        else { throw IoTError(.storeFailed, "a stored document lacks schema, version or objects") }
        var properties: [StoredProperty] = []
        for object in objects {
            guard let path = object["path"]?.stringValue, let value = object["value"],
                let objectVersion = object["version"]?.integerValue
            else { throw IoTError(.storeFailed, "a stored property lacks path, value or version") }
            properties.append(
                StoredProperty(
                    path: path, value: value, version: objectVersion, appliedVersion: object["applied"]?.integerValue))
        }
        try self.init(schema: ThingSchema(vendorForm: form), version: version, properties: properties)
    }
}
