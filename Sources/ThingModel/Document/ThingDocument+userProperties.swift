public import IoTCore

extension ThingDocument {
    /// Adds or replaces `ProUser.{name}` with `value` as its `val`. `name` may also be the path `ProUser.{name}`.
    ///
    /// Throws `reservedPropertyName` for a leading `_`, `pathInvalid` for a name that a path cannot contain,
    /// `payloadTooLarge` past 256 properties.
    public mutating func addUserProperty(
        _ name: String, _ value: JSONValue, at t: Int64, ifVersion: Int64? = nil
    ) throws(IoTError) -> PropertyChange {
        let name = try Self.userPropertyName(name)
        if let fault = PropertyName.fault(in: name) {
            throw IoTError(.pathInvalid, "a user property's name \(fault)", remedy: "choose another name")
        }
        try Self.checkUserValue(value, at: "ProUser.\(name).val")
        try checkVersion(PropertyPath(.user, name), ifVersion: ifVersion)
        let count = entries[.user, default: [:]].count - 1
        guard entries[.user]?[name] != nil || count < Self.maximumUserPropertyCount else {
            throw IoTError(
                .payloadTooLarge, "there are \(count) user properties; no more are allowed", remedy: "delete one first")
        }
        return try store(Self.object(of: .user, value: value, t: t), .user, name)
    }

    /// Deletes `ProUser.{name}`. The value of the change is null.
    ///
    /// Throws `pathInvalid` when there is none, `reservedPropertyName` for a built-in.
    public mutating func deleteUserProperty(
        _ name: String, ifVersion: Int64? = nil
    ) throws(IoTError) -> PropertyChange {
        let name = try Self.userPropertyName(name)
        try checkVersion(PropertyPath(.user, name), ifVersion: ifVersion)
        _ = try userEntry(name)
        return remove(.user, name)
    }

    mutating func writeUser(
        _ path: PropertyPath, _ name: String, _ value: JSONValue, at t: Int64, ifVersion: Int64?
    ) throws(IoTError) -> PropertyChange {
        guard let entry = entries[.user]?[name] else {
            try checkVersion(path, ifVersion: ifVersion)
            throw IoTError(
                .pathInvalid, "there is no ProUser.\(name)",
                remedy: "add it first: `iotctl user-property add ID \(name) JSON`")
        }
        let (members, bare) = try Self.unwrap(path, .user, value)
        try checkVersion(path, ifVersion: ifVersion)
        guard let object = entry.value.replacing(["val"] + members, with: bare) else {
            throw IoTError(
                .pathInvalid, "there is nothing at \(path)", remedy: "write a whole value above it first")
        }
        let whole = object["val"] ?? .null
        try Self.checkUserValue(whole, at: "ProUser.\(name).val")
        if name == ThingSchema.builtInUserProperty { try Self.checkBuiltInUserValue(whole) }
        return try store(object.stamped(t), .user, name)
    }

    private func userEntry(_ name: String) throws(IoTError) -> Entry {
        do throws(IoTError) {
            return try entry(.user, name)
        } catch {
            throw IoTError(
                error.code, error.message, remedy: "list your properties with `iotctl property read ID ProUser`")
        }
    }

    /// The name in `NAME` or `ProUser.NAME`. Compares bytes: as a `Character`, '.' or '_' with a combining mark would
    /// not be recognized.
    private static func userPropertyName(_ text: String) throws(IoTError) -> String {
        let prefix = "\(PropertyClass.user.rawValue).".utf8
        let name =
            text.utf8.starts(with: prefix) ? String(decoding: text.utf8.dropFirst(prefix.count), as: UTF8.self) : text
        guard name.utf8.first != UInt8(ascii: "_") else {
            throw IoTError(
                .reservedPropertyName,
                "'\(name.excerpt(64))' begins with '_', which is reserved for built-in properties")
        }
        return name
    }

    /// Limits the nesting: a link message adds levels, and JSON parsers refuse too many.
    private static func checkUserValue(_ value: JSONValue, at path: String) throws(IoTError) {
        guard value.nestingDepth <= maximumUserValueDepth else {
            throw IoTError(.valueInvalid, "\(path) has more than \(maximumUserValueDepth) levels of nesting")
        }
    }

    private static func checkBuiltInUserValue(_ value: JSONValue) throws(IoTError) {
        let path = "ProUser.\(ThingSchema.builtInUserProperty).val"
        guard let members = value.objectValue else {
            throw IoTError(.valueInvalid, "\(path) must be an object, not \(value.excerpt)")
        }
        for (name, member) in members.sorted(by: { $0.key < $1.key }) {
            guard let schema = ThingSchema.builtInUserMembers[name] else { continue }
            _ = try schema.validate(member, at: "\(path).\(name)")
        }
    }
}
