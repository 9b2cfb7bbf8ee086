public import IoTCore

extension ThingDocument {
    /// Reads `path`, at any depth: `""` is the whole model, `Action` a class, `ProUser._buildIn.val` a value.
    ///
    /// Throws `pathInvalid` when the path does not exist.
    public func read(_ path: String) throws(IoTError) -> PropertyReading {
        try read(PropertyPath(parsing: path))
    }

    public func read(_ path: PropertyPath) throws(IoTError) -> PropertyReading {
        guard let propertyClass = path.propertyClass else { return PropertyReading(value: value, version: version) }
        guard let name = path.object else {
            return PropertyReading(value: classValue(propertyClass), version: version)
        }
        let entry = try entry(propertyClass, name)
        guard let value = entry.value.descendant(path.members[...]) else {
            throw IoTError(.pathInvalid, "there is nothing at \(path); \(propertyClass.rawValue).\(name) exists")
        }
        return PropertyReading(value: value, version: entry.version)
    }

    /// Returns the object. Throws `pathInvalid` with the existing names.
    func entry(_ propertyClass: PropertyClass, _ name: String) throws(IoTError) -> Entry {
        if let entry = entries[propertyClass]?[name] { return entry }
        let names = (entries[propertyClass] ?? [:]).keys.sorted()
        let shown = names.prefix(12).joined(separator: ", ") + (names.count > 12 ? ", …" : "")
        throw IoTError(
            .pathInvalid,
            "\(propertyClass.rawValue) has no '\(name)'; "
                + (names.isEmpty ? "it is empty" : "it has \(shown)"))
    }

    /// Throws `versionConflict` unless the property has the expected version. 0 expects that it does not exist.
    func checkVersion(_ path: PropertyPath, ifVersion: Int64?) throws(IoTError) {
        guard let ifVersion, let propertyClass = path.propertyClass, let name = path.object else { return }
        let entry = entries[propertyClass]?[name]
        let current = entry?.version ?? 0
        guard current != ifVersion else { return }
        let value = entry?.value.descendant(path.members[...]) ?? .null
        throw .versionConflict(
            VersionConflict(path: path.description, value: value, version: current), expected: ifVersion)
    }
}

extension JSONValue {
    /// The value at `members` in this value; `nil` when there is none.
    func descendant(_ members: ArraySlice<String>) -> JSONValue? {
        guard let first = members.first else { return self }
        return self[first]?.descendant(members.dropFirst())
    }

    /// Returns this value with `value` at `members`. Siblings are kept. The last member is added if it is missing.
    /// Returns `nil` when another member is missing or is not an object.
    func replacing(_ members: ArraySlice<String>, with value: JSONValue) -> JSONValue? {
        guard let first = members.first else { return value }
        guard case .object(var own) = self else { return nil }
        if members.count == 1 {
            own[first] = value
        } else {
            guard let replaced = own[first]?.replacing(members.dropFirst(), with: value) else { return nil }
            own[first] = replaced
        }
        return .object(own)
    }
}
