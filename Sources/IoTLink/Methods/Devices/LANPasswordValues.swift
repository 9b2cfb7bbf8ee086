public import IoTCore

/// The parameters of `device.lanPassword` from a user to the hub. `description` contains no password.
public struct LANPasswordQuery: LinkValue, Hashable, CustomStringConvertible, CustomReflectable {
    /// An id or a name.
    public var device: String
    public var order: LANPasswordOrder

    public init(device: String, order: LANPasswordOrder) {
        self.device = device
        self.order = order
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.text("device")
        order = try LANPasswordOrder(members)
    }

    public var json: JSONValue {
        var json = order.json
        json["device"] = .string(device)
        return json
    }

    public var description: String { "\(order) of \(device)" }
    public var customMirror: Mirror { Mirror(self, children: ["device": device]) }
}

/// The parameters of `device.lanPassword` from the hub to the device. `description` contains no password.
public struct LANPasswordOrder: LinkValue, Hashable, CustomStringConvertible, CustomReflectable {
    /// The current password; `nil` if the user assumes that the camera has none.
    public var password: String?
    /// `nil` to check `password` only.
    public var newPassword: String?

    public init(password: String?, newPassword: String? = nil) {
        self.password = password
        self.newPassword = newPassword
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        password = try members.optionalText("password")
        newPassword = try members.optionalText("newPassword")
    }

    public var json: JSONValue { .members(["password": .text(password), "newPassword": .text(newPassword)]) }

    public var description: String { newPassword == nil ? "a password check" : "a password change" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The result of `device.lanPassword`: `null`, `ok` or `changed`. The other outcomes are errors.
public struct LANPasswordAnswer: LinkValue, Hashable {
    public var outcome: LANPasswordOutcome

    public init(_ outcome: LANPasswordOutcome) {
        self.outcome = outcome
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        outcome = try members.word("outcome", of: LANPasswordOutcome.self)
    }

    public var json: JSONValue { ["outcome": .string(outcome.rawValue)] }
}
