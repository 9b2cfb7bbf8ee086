public import IoTCore

extension ThingDocument {
    /// Who reports a value.
    public enum Reporter: Sendable {
        case device
        /// The hub. Only it knows whether a device is online (`ProReadonly._online`).
        case hub
    }

    /// Stores a reported `ProReadonly`, `ProConst` or `Event`, at any depth: `ProReadonly.x` takes `{"stVal":…,"t":…}`,
    /// `ProReadonly.x.stVal` the bare value, `ProConst.x` the value itself.
    ///
    /// The member `t` of the object, the device's own time, is kept; without it the parameter `t` is stored.
    public mutating func report(
        _ path: String, _ value: JSONValue, at t: Int64, by reporter: Reporter = .device
    ) throws(IoTError) -> PropertyChange {
        let path = try PropertyPath(parsing: path)
        guard let propertyClass = path.propertyClass, let name = path.object else {
            throw IoTError(.pathInvalid, "'\(path)' does not name a property; report one, like ProReadonly.x.stVal")
        }
        switch propertyClass {
        case .readonly, .constant, .event: break
        case .writable, .action, .user:
            throw IoTError(.pathInvalid, "\(path) cannot be reported; devices report ProConst, ProReadonly and Event")
        }
        guard reporter == .hub || !(propertyClass == .readonly && name == "_online") else {
            throw IoTError(.pathInvalid, "only the hub sets ProReadonly._online: it follows the device's connection")
        }
        let entry = try entry(propertyClass, name)
        let (members, bare) = try Self.unwrap(path, propertyClass, value)
        guard let property = schema[propertyClass, name], let part = property.value.descendant(members) else {
            throw missingMember(path, propertyClass, name, members)
        }
        let key = propertyClass.valueKey.map { [$0] } ?? []
        let leaf = ([propertyClass.rawValue, name] + key + members).joined(separator: ".")
        let checked = try part.validate(bare, at: leaf)
        guard let object = entry.value.replacing(key + members, with: checked) else {
            throw missingMember(path, propertyClass, name, members)
        }
        guard propertyClass.valueKey != nil else { return try store(object, propertyClass, name) }
        let ownTime = path.members.isEmpty ? value["t"]?.integerValue : nil
        return try store(object.stamped(ownTime ?? t), propertyClass, name)
    }
}
