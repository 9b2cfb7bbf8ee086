public import IoTCore

/// A new token: `token.create`, `token.createAPI`, `token.renew`.
public struct IssuedToken: LinkValue, Hashable {
    public var id: String
    /// The hub does not store it.
    public var token: String
    /// s since 1970.
    public var expires: Int64

    public init(id: String, token: String, expires: Int64) {
        self.id = id
        self.token = token
        self.expires = expires
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        id = try members.text("id")
        token = try members.text("token")
        expires = try members.integer("expires")
    }

    public var json: JSONValue { ["id": .string(id), "token": .string(token), "expires": .integer(expires)] }
}

/// A new enrolment: `token.enrol`.
public struct IssuedEnrolment: LinkValue, Hashable {
    public var id: String
    /// The enrolment string (`EnrolmentString`). The hub does not store it.
    public var enrolment: String
    /// s since 1970.
    public var expires: Int64

    public init(id: String, enrolment: String, expires: Int64) {
        self.id = id
        self.enrolment = enrolment
        self.expires = expires
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        id = try members.text("id")
        enrolment = try members.text("enrolment")
        expires = try members.integer("expires")
    }

    public var json: JSONValue {
        ["id": .string(id), "enrolment": .string(enrolment), "expires": .integer(expires)]
    }
}

/// The account and the permissions of an API token or a media key: `token.check`, `key.check`.
public struct CredentialGrant: LinkValue, Hashable {
    public var id: String
    public var account: AccessID
    /// The account's kind; `nil` for a key, and from an earlier hub.
    public var kind: AccountKind?
    /// s since 1970.
    public var expires: Int64
    /// Ids; `nil` for all devices of the account.
    public var devices: [String]?
    /// `nil` for all actions of the account.
    public var actions: [DeviceAction]?

    public init(
        id: String, account: AccessID, kind: AccountKind?, expires: Int64, devices: [String]?, actions: [DeviceAction]?
    ) {
        self.id = id
        self.account = account
        self.kind = kind
        self.expires = expires
        self.devices = devices
        self.actions = actions
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        id = try members.text("id")
        account = try members.accessID("account")
        // An unknown kind has only the rights of a member.
        kind = try members.optionalText("kind").map { AccountKind(rawValue: $0) ?? .member }
        expires = try members.integer("expires")
        devices = try members.optionalTexts("devices")
        actions = try members.knownActions("actions")
    }

    public var json: JSONValue {
        .members([
            "id": .string(id), "account": .string(account.rawValue), "kind": .text(kind?.rawValue),
            "expires": .integer(expires), "devices": .texts(devices) ?? .null,
            "actions": actions.map { BindingActions($0).json } ?? .null,
        ])
    }
}

/// `token.list`
extension TokenDescription: LinkListed {
    public static var listName: String { "tokens" }
    public static var placeName: String { "id" }
    public var place: String { id }

    public init(_ members: LinkMembers) throws(IoTError) {
        self.init(
            id: try members.text("id"), kind: try members.word("kind", of: TokenKind.self),
            name: try members.optionalText("name"), principal: try members.optionalText("principal"),
            issued: try members.integer("issued"), expires: try members.integer("expires"),
            devices: try members.optionalTexts("devices"), actions: try members.knownActions("actions"),
            isLocal: try members.optionalFlag("isLocal"), lastUse: try members.optionalInteger("lastUse"),
            parent: try members.optionalText("parent"))
    }

    public var json: JSONValue {
        .members([
            "id": .string(id), "kind": .string(kind.rawValue), "name": .text(name),
            "principal": .text(principal) ?? .null, "issued": .integer(issued), "expires": .integer(expires),
            "devices": .texts(devices), "actions": actions.map { BindingActions($0).json },
            "isLocal": .flag(isLocal), "lastUse": .whole(lastUse), "parent": .text(parent),
        ])
    }
}
