public import IoTCore

/// `user.list`
extension UserDescription: LinkListed {
    public static var listName: String { "users" }
    public static var placeName: String { "accessId" }
    public var place: String { accessId }

    public init(_ members: LinkMembers) throws(IoTError) {
        self.init(
            accessId: try members.text("accessId"), kind: try members.word("kind", of: AccountKind.self),
            device: try members.optionalText("device"), expires: try members.optionalInteger("expires"),
            created: try members.optionalInteger("created"))
    }

    public var json: JSONValue {
        .members([
            "accessId": .string(accessId), "kind": .string(kind.rawValue), "device": .text(device),
            "expires": .whole(expires), "created": .whole(created),
        ])
    }
}

/// `user.create`
extension UserResponse: LinkValue {
    public init(_ members: LinkMembers) throws(IoTError) {
        self.init(accessId: try members.text("accessId"), kind: try members.word("kind", of: AccountKind.self))
    }

    public var json: JSONValue { ["accessId": .string(accessId), "kind": .string(kind.rawValue)] }
}

/// `user.createTemporary`
extension TemporaryUserResponse: LinkValue {
    public init(_ members: LinkMembers) throws(IoTError) {
        self.init(
            accessId: try members.text("accessId"), expires: try members.integer("expires"),
            enrolment: try members.optionalText("enrolment"))
    }

    public var json: JSONValue {
        .members(["accessId": .string(accessId), "expires": .integer(expires), "enrolment": .text(enrolment)])
    }
}
