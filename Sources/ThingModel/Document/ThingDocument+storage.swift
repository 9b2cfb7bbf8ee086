public import IoTCore

/// One object of a document as a store keeps it: a row.
public struct StoredProperty: Sendable, Hashable {
    /// `ProWritable._logLevel`
    public var path: String
    /// The whole object, `{"setVal":0,"t":0}`.
    public var value: JSONValue
    public var version: Int64
    /// The version that the device carries out; `nil` when unknown, and for all classes but `ProWritable`.
    public var appliedVersion: Int64?

    public init(path: String, value: JSONValue, version: Int64, appliedVersion: Int64? = nil) {
        self.path = path
        self.value = value
        self.version = version
        self.appliedVersion = appliedVersion
    }
}

extension ThingDocument {
    /// Every object, to be stored.
    public var storedProperties: [StoredProperty] {
        entries.sorted { $0.key < $1.key }.flatMap { propertyClass, objects in
            objects.sorted { $0.key < $1.key }.map { name, entry in
                StoredProperty(
                    path: "\(propertyClass.rawValue).\(name)", value: entry.value, version: entry.version,
                    appliedVersion: entry.appliedVersion)
            }
        }
    }

    /// A document from a store: its schema, its version, its objects.
    ///
    /// Throws `storeFailed` for rows that cannot be of such a document.
    public init(schema: ThingSchema, version: Int64, properties: [StoredProperty]) throws(IoTError) {
        var entries = ThingDocument(schema: schema).entries
        for property in properties {
            let path: PropertyPath
            do { path = try PropertyPath(parsing: property.path) } catch {
                throw IoTError(.storeFailed, "a stored property has the path '\(property.path)'", underlying: error)
            }
            guard let propertyClass = path.propertyClass, let name = path.object, path.members.isEmpty,
                property.version <= version,
                propertyClass == .user || schema[propertyClass, name] != nil
            else { throw IoTError(.storeFailed, "the stored property '\(property.path)' is not of this document") }
            entries[propertyClass, default: [:]][name] = Entry(
                value: property.value, version: property.version, appliedVersion: property.appliedVersion)
        }
        self.init(schema: schema, version: version, entries: entries)
    }

    /// Schema, version and objects in one value; `init(json:)` reads it.
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
