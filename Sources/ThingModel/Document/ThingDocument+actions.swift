public import IoTCore

/// An action that fits the schema and may be carried out.
public struct ActionCommand: Sendable, Hashable {
    /// The action's name: `cameraOn`.
    public var name: String

    /// The checked value for `ctlVal`.
    public var value: JSONValue

    /// The action's object: `Action.cameraOn`.
    public var path: String { "\(PropertyClass.action.rawValue).\(name)" }
}

extension ThingDocument {
    /// Reads a user's action without changing anything: `Action.x` with `{"ctlVal":…}` or `{"stVal":…}`, or the bare
    /// value at `Action.x.ctlVal`, or at `Action.x` where it is no object. Null at `Action.x` takes the action without a value: 1 for a number, else the
    /// type's default.
    ///
    /// Throws `pathInvalid` for what is no action, `valueInvalid` for a value outside the schema.
    public func actionCommand(_ path: String, _ value: JSONValue) throws(IoTError) -> ActionCommand {
        let path = try PropertyPath(parsing: path)
        guard path.propertyClass == .action, let name = path.object else {
            throw IoTError(
                .pathInvalid, "'\(path)' is no action; an action's path is Action.NAME",
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
        // Clients in the wild use both keys.
        let (members, bare) = try Self.unwrap(path, .action, value, alsoAs: "stVal")
        guard members.isEmpty else {
            throw IoTError(
                .pathInvalid, "\(path): an action takes its whole value", remedy: "give it at Action.\(name).ctlVal")
        }
        return ActionCommand(name: name, value: try property.value.validate(bare, at: "Action.\(name).ctlVal"))
    }

    /// Notes that an action was taken: its value, who took it (`origin`), and when.
    ///
    /// What the action did arrives as the device's report of the `ProReadonly` twin.
    public mutating func takeAction(
        _ path: String, _ value: JSONValue, origin: String, at t: Int64
    ) throws(IoTError) -> PropertyChange {
        let command = try actionCommand(path, value)
        return try store(
            ["ctlVal": command.value, "origin": .string(origin), "t": .integer(t)], .action, command.name)
    }
}
