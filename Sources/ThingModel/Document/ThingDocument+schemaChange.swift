public import IoTCore

/// The changes of a document by a new schema, for example after a firmware update.
public struct SchemaChange: Sendable, Hashable {
    /// A value that a user had set and that the new schema does not allow.
    public struct DroppedValue: Sendable, Hashable {
        /// The leaf: `ProWritable.plan.setVal.begin`.
        public var path: String
        public var value: JSONValue
        public var reason: String
    }

    /// The new, changed and removed objects.
    public var changes: [PropertyChange]

    /// The settings that were lost, sorted by path.
    public var dropped: [DroppedValue]
}

extension ThingDocument {
    /// Adopts a new schema.
    ///
    /// Written values that are still valid are kept, member by member. Invalid ones become the default and are listed
    /// in `dropped`. Settings that were never written become the new default. User properties do not change. The device
    /// reports its own values again.
    public mutating func adopt(_ newSchema: ThingSchema) throws(IoTError) -> SchemaChange {
        guard newSchema != schema else { return SchemaChange(changes: [], dropped: []) }
        var next = self
        next.schema = newSchema
        var result = SchemaChange(changes: [], dropped: [])
        for propertyClass in PropertyClass.allCases where propertyClass != .user {
            try next.adopt(newSchema, propertyClass, into: &result)
        }
        result.dropped.sort { $0.path < $1.path }
        self = next
        return result
    }

    private mutating func adopt(
        _ newSchema: ThingSchema, _ propertyClass: PropertyClass, into result: inout SchemaChange
    ) throws(IoTError) {
        let stored = entries[propertyClass] ?? [:]
        for property in newSchema.properties(of: propertyClass) {
            guard let old = stored[property.name] else {
                let object = Self.object(of: propertyClass, value: property.value.defaultValue)
                result.changes.append(try store(object, propertyClass, property.name))
                continue
            }
            let isUnwritten = propertyClass == .writable && old.value["t"] == 0
            let object =
                isUnwritten
                ? Self.object(of: propertyClass, value: property.value.defaultValue)
                : Self.migrate(old.value, to: property, into: &result)
            if object != old.value { result.changes.append(try store(object, propertyClass, property.name)) }
        }
        for (name, old) in stored.sorted(by: { $0.key < $1.key }) where newSchema[propertyClass, name] == nil {
            if propertyClass == .writable {
                result.dropped.append(
                    .init(
                        path: "ProWritable.\(name).setVal", value: old.value["setVal"] ?? .null,
                        reason: "the new schema has no such property"))
            }
            result.changes.append(remove(propertyClass, name))
        }
    }

    private static func migrate(
        _ object: JSONValue, to property: PropertySchema, into result: inout SchemaChange
    ) -> JSONValue {
        let key = property.propertyClass.valueKey
        let path = [property.propertyClass.rawValue, property.name, key].compactMap { $0 }.joined(separator: ".")
        var lost: [SchemaChange.DroppedValue] = []
        let value = property.value.migrate(key.map { object[$0] ?? .null } ?? object, at: path) {
            lost.append(.init(path: $0, value: $1, reason: $2))
        }
        if property.propertyClass == .writable { result.dropped += lost }
        guard let key else { return value }
        var migrated = object
        migrated[key] = value
        return migrated
    }
}
