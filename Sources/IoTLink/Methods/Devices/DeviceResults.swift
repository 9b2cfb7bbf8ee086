public import IoTCore

/// `device.create`
extension DeviceResponse: LinkValue {
    public init(_ members: LinkMembers) throws(IoTError) {
        self.init(device: try members.text("device"), name: try members.text("name"))
    }

    public var json: JSONValue { ["device": .string(device), "name": .string(name)] }
}

/// `device.bind`, `device.subscribe`
extension BindingResponse: LinkValue {
    public init(_ members: LinkMembers) throws(IoTError) {
        self.init(
            device: try members.text("device"), user: try members.text("user"),
            role: try members.word("role", of: BindingRole.self), actions: try members.knownActions("actions") ?? [],
            accessToken: try members.optionalText("accessToken"))
    }

    public var json: JSONValue {
        .members([
            "device": .string(device), "user": .string(user), "role": .string(role.rawValue),
            "actions": BindingActions(actions).json, "accessToken": .text(accessToken),
        ])
    }
}

/// `device.share`
extension ShareResponse: LinkValue {
    public init(_ members: LinkMembers) throws(IoTError) {
        self.init(
            token: try members.text("token"), actions: try members.knownActions("actions") ?? [],
            expires: try members.integer("expires"))
    }

    public var json: JSONValue {
        ["token": .string(token), "actions": BindingActions(actions).json, "expires": .integer(expires)]
    }
}

/// One line of `device.users`.
extension BindingDescription: LinkValue {
    public init(_ members: LinkMembers) throws(IoTError) {
        self.init(
            accessId: try members.text("accessId"), role: try members.word("role", of: BindingRole.self),
            actions: try members.knownActions("actions") ?? [], since: try members.optionalInteger("since"))
    }

    public var json: JSONValue {
        .members([
            "accessId": .string(accessId), "role": .string(role.rawValue), "actions": BindingActions(actions).json,
            "since": .whole(since),
        ])
    }
}

/// `device.users`. It has no pages, because a device has few users.
public struct BindingLines: LinkValue, Hashable {
    public var users: [BindingDescription]

    public init(users: [BindingDescription]) {
        self.users = users
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        users = try members.readable("users", of: BindingDescription.self)
    }

    public var json: JSONValue { ["users": .array(users.map(\.json))] }
}
