public import IoTCore

extension ThingDocument {
    /// Writes to `ProWritable` or `ProUser` for a user: `value` replaces the value at `path`; siblings are kept.
    ///
    /// `ProWritable.x.setVal` takes the bare value, `ProWritable.x.setVal.member…` a part of it, and `ProWritable.x`
    /// `{"setVal":…}`. The same holds for `ProUser.x` with `val`. `t` is UTC seconds. With `ifVersion`, it writes only
    /// if the property has that version.
    ///
    /// Throws `pathInvalid`, `valueInvalid`, `versionConflict` (with `IoTError.versionConflict`), `payloadTooLarge`.
    public mutating func write(
        _ path: String, _ value: JSONValue, at t: Int64, ifVersion: Int64? = nil
    ) throws(IoTError) -> PropertyChange {
        let path = try PropertyPath(parsing: path)
        guard let propertyClass = path.propertyClass, let name = path.object else {
            throw IoTError(
                .pathInvalid,
                "\(path.description.isEmpty ? "the whole model" : path.description) cannot be written",
                remedy: "write one property, like ProWritable._logLevel.setVal")
        }
        switch propertyClass {
        case .writable:
            return try writeWritable(path, name, value, at: t, ifVersion: ifVersion)
        case .user:
            return try writeUser(path, name, value, at: t, ifVersion: ifVersion)
        case .readonly, .constant, .event, .action:
            throw refusal(path, propertyClass, name)
        }
    }

    private mutating func writeWritable(
        _ path: PropertyPath, _ name: String, _ value: JSONValue, at t: Int64, ifVersion: Int64?
    ) throws(IoTError) -> PropertyChange {
        let entry = try entry(.writable, name)
        let (members, bare) = try Self.unwrap(path, .writable, value)
        guard let property = schema[.writable, name], let part = property.value.descendant(members) else {
            throw missingMember(path, .writable, name, members)
        }
        try checkVersion(path, ifVersion: ifVersion)
        let leaf = (["ProWritable", name, "setVal"] + members).joined(separator: ".")
        let checked = try part.validate(bare, at: leaf)
        let complete = property.value.completing(entry.value["setVal"] ?? .null, towards: members)
        guard let value = complete.replacing(members, with: checked),
            let object = entry.value.replacing(["setVal"], with: value)
        else { throw missingMember(path, .writable, name, members) }
        return try store(object.stamped(t), .writable, name)
    }

    /// The error for a write to a class that cannot be written.
    private func refusal(_ path: PropertyPath, _ propertyClass: PropertyClass, _ name: String) -> IoTError {
        do { _ = try entry(propertyClass, name) } catch { return error }
        switch propertyClass {
        case .readonly:
            return schema[.action, name] == nil
                ? IoTError(
                    .pathInvalid, "\(path) is read-only: only the device changes it", remedy: Self.chooseWritable)
                : IoTError(.pathInvalid, "\(path) is read-only", remedy: "run its action: \(Self.actionCommand(name))")
        case .constant:
            return IoTError(
                .pathInvalid, "\(path) is constant: the device reports it when it starts", remedy: Self.chooseWritable)
        case .event:
            return IoTError(
                .pathInvalid, "\(path) is an event: only the device reports events", remedy: Self.chooseWritable)
        case .action:
            return IoTError(
                .pathInvalid, "\(path) is an action, which is run and not written",
                remedy: "run it: \(Self.actionCommand(name))")
        case .writable, .user:
            return IoTError(.pathInvalid, "\(path) cannot be written")
        }
    }

    private static let chooseWritable =
        "write a property of ProWritable; `iotctl property read ID ProWritable` lists them"

    static func actionCommand(_ name: String) -> String {
        "`iotctl action ID Action.\(name).ctlVal JSON`"
    }

    /// Returns the members below the value key, and the value for them.
    static func unwrap(
        _ path: PropertyPath, _ propertyClass: PropertyClass, _ value: JSONValue, alsoAs otherKey: String? = nil
    ) throws(IoTError) -> (members: ArraySlice<String>, value: JSONValue) {
        guard let key = propertyClass.valueKey else { return (path.members[...], value) }
        if let attribute = path.members.first {
            guard attribute == key || attribute == otherKey else {
                let isOfHub = attribute == "t" || attribute == "origin"
                throw IoTError(
                    .pathInvalid, "\(path) cannot be written\(isOfHub ? ": the hub fills it in" : "")",
                    remedy: "write the value at \(path.objectPath ?? "").\(key)")
            }
            return (path.members.dropFirst(), value)
        }
        guard let object = value.objectValue, let inner = object[key] ?? otherKey.flatMap({ object[$0] }) else {
            throw IoTError(
                .valueInvalid,
                "\(path) takes {\"\(key)\":…}, not \(value.excerpt)", remedy: "write the bare value at \(path).\(key)")
        }
        // A client may send an object that it read. The hub sets `t` and `origin` itself.
        let known: Set<String> = [key, otherKey ?? key, "t", "origin"]
        if let unknown = object.keys.sorted().first(where: { !known.contains($0) }) {
            throw IoTError(.valueInvalid, "\(path).\(unknown) is not an attribute; \(path) takes {\"\(key)\":…}")
        }
        return ([], inner)
    }

    func missingMember(
        _ path: PropertyPath, _ propertyClass: PropertyClass, _ name: String, _ members: ArraySlice<String>
    ) -> IoTError {
        var known = members
        while !known.isEmpty, schema[propertyClass, name]?.value.descendant(known) == nil { known = known.dropLast() }
        let parent = [propertyClass.rawValue, name] + (propertyClass.valueKey.map { [$0] } ?? []) + known
        let text = parent.joined(separator: ".")
        guard let type = schema[propertyClass, name]?.value.descendant(known)?.type else {
            return IoTError(.pathInvalid, "there is nothing at \(path)")
        }
        guard case .structure(_, let fields) = type else {
            return IoTError(
                .pathInvalid, "there is nothing at \(path): \(text) is \(type.name) and has no members",
                remedy: "write \(text) as a whole")
        }
        return IoTError(
            .pathInvalid,
            "there is nothing at \(path); the members of \(text) are \(fields.map(\.name).joined(separator: ", "))",
            remedy: "write one of these")
    }
}

extension JSONValue {
    /// The object with its time set.
    func stamped(_ t: Int64) -> JSONValue {
        var object = self
        object["t"] = .integer(t)
        return object
    }
}
