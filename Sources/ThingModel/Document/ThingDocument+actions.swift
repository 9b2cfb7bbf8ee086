public import IoTCore

/// An action with a value that is valid for the schema.
public struct ActionCommand: Sendable, Hashable {
    /// The action's name: `cameraOn`.
    public var name: String

    /// The validated value for `ctlVal`.
    public var value: JSONValue

    /// The action's object: `Action.cameraOn`.
    public var path: String { "\(PropertyClass.action.rawValue).\(name)" }
}

extension ThingDocument {
    /// Parses a user's action without changing the document.
    ///
    /// `Action.x` takes `{"ctlVal":…}`, `{"stVal":…}`, or a bare value that is not an object. `Action.x.ctlVal` takes
    /// the bare value. Null at `Action.x` means no value: 1 for a number, otherwise the type's default.
    ///
    /// Throws `pathInvalid` for a path that is not an action, `valueInvalid` for a value that the schema does not
    /// allow.
    public func actionCommand(_ path: String, _ value: JSONValue) throws(IoTError) -> ActionCommand {
        let path = try PropertyPath(parsing: path)
        guard path.propertyClass == .action, let name = path.object else {
            throw IoTError(
                .pathInvalid, "'\(path)' is not an action; an action's path is Action.NAME",
                remedy: "list the actions with `iotctl property read ID Action`")
        }
        _ = try entry(.action, name)
        guard let property = schema[.action, name] else {
            throw IoTError(.pathInvalid, "the device's schema has no Action.\(name)")
        }
        if path.members.isEmpty, value == .null {
            let plain: JSONValue = property.value.type.isNumber ? 1 : property.value.defaultValue
            return ActionCommand(name: name, value: try property.value.validate(plain, at: "Action.\(name).ctlVal"))
        }
        if path.members.isEmpty, value.objectValue == nil {
            return ActionCommand(name: name, value: try property.value.validate(value, at: "Action.\(name).ctlVal"))
        }
        // Existing clients use both keys.
        let (members, bare) = try Self.unwrap(path, .action, value, alsoAs: "stVal")
        guard members.isEmpty else {
            throw IoTError(
                .pathInvalid, "\(path): an action takes its whole value", remedy: "pass it at Action.\(name).ctlVal")
        }
        return ActionCommand(name: name, value: try property.value.validate(bare, at: "Action.\(name).ctlVal"))
    }

    /// Records an executed action: its value, who requested it (`origin`), and when.
    ///
    /// The device reports the effect as the `ProReadonly` twin.
    public mutating func takeAction(
        _ path: String, _ value: JSONValue, origin: String, at t: Int64
    ) throws(IoTError) -> PropertyChange {
        let command = try actionCommand(path, value)
        return try store(
            ["ctlVal": command.value, "origin": .string(origin), "t": .integer(t)], .action, command.name)
    }
}
