public import IoTCore

/// The parameters of `token.create`.
public struct LinkTokenCreation: LinkValue, Hashable {
    /// The caller itself when absent.
    public var principal: Principal?
    public var name: String?
    public var ttlSeconds: Int64
    /// The API token of the request that a gateway received, here and in the types below.
    public var within: String?

    public init(principal: Principal? = nil, name: String? = nil, ttlSeconds: Int64, within: String? = nil) {
        self.principal = principal
        self.name = name
        self.ttlSeconds = ttlSeconds
        self.within = within
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        principal = try members.optionalPrincipal("principal")
        name = try members.optionalText("name")
        ttlSeconds = try members.lifetime("ttlSeconds", Lifetimes.credentials)
        within = try members.optionalText("within")
    }

    public var json: JSONValue {
        .members([
            "principal": .text(principal?.description), "name": .text(name), "ttlSeconds": .integer(ttlSeconds),
            "within": .text(within),
        ])
    }
}

/// The requested account, devices and actions of an API token or a media key.
public struct CredentialScope: LinkValue, Hashable {
    /// The maximum number of devices that a credential may name.
    public static let mostDevices = 256

    /// The account that the credential acts for; the caller when absent.
    public var user: AccessID?
    /// The devices, as ids or names; all devices of the account when absent.
    public var devices: [String]?
    /// The actions; the default depends on the method.
    public var actions: BindingActions?

    public init(user: AccessID? = nil, devices: [String]? = nil, actions: BindingActions? = nil) {
        self.user = user
        self.devices = devices
        self.actions = actions
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        user = try members.optionalAccessID("user")
        devices = try members.optionalTexts("devices", atMost: Self.mostDevices)
        actions = try members.optionalActions("actions")
    }

    public var json: JSONValue {
        .members(["user": .text(user?.rawValue), "devices": .texts(devices), "actions": actions?.json])
    }
}

/// The parameters of `token.createAPI`.
public struct APITokenCreation: LinkValue, Hashable {
    public var name: String?
    public var scope: CredentialScope
    public var ttlSeconds: Int64
    public var within: String?

    public init(name: String? = nil, scope: CredentialScope, ttlSeconds: Int64, within: String? = nil) {
        self.name = name
        self.scope = scope
        self.ttlSeconds = ttlSeconds
        self.within = within
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        name = try members.optionalText("name")
        scope = try CredentialScope(members)
        ttlSeconds = try members.lifetime("ttlSeconds", Lifetimes.credentials)
        within = try members.optionalText("within")
    }

    public var json: JSONValue {
        var json = scope.json
        json["name"] = .text(name)
        json["ttlSeconds"] = .integer(ttlSeconds)
        json["within"] = .text(within)
        return json
    }
}

/// The parameters of `token.enrol`.
public struct EnrolmentCreation: LinkValue, Hashable {
    public static let mostDevices = 64

    /// The account that joins; the caller when neither `user` nor `devices` is given.
    public var user: AccessID?
    /// The devices that join, as ids or names.
    public var devices: [String]
    /// 600 when absent.
    public var ttlSeconds: Int64?
    public var within: String?

    public init(user: AccessID? = nil, devices: [String] = [], ttlSeconds: Int64? = nil, within: String? = nil) {
        self.user = user
        self.devices = devices
        self.ttlSeconds = ttlSeconds
        self.within = within
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        user = try members.optionalAccessID("user")
        devices = try members.optionalTexts("devices", atMost: Self.mostDevices) ?? []
        ttlSeconds = try members.optionalLifetime("ttlSeconds", Lifetimes.enrolments)
        within = try members.optionalText("within")
    }

    public var json: JSONValue {
        .members([
            "user": .text(user?.rawValue), "devices": .texts(devices), "ttlSeconds": .whole(ttlSeconds),
            "within": .text(within),
        ])
    }
}

/// The parameters of a method that needs only the id of a token, an enrolment or a media key.
public struct CredentialReference: LinkValue, Hashable {
    /// `key.revoke` also accepts the key itself.
    public var id: String

    public init(id: String) {
        self.id = id
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        id = try members.text("id")
    }

    public var json: JSONValue { ["id": .string(id)] }
}

/// A token as text: the parameters of `token.check` and `device.subscribe`.
public struct TokenText: LinkValue, Hashable {
    public var token: String

    public init(token: String) {
        self.token = token
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        token = try members.text("token")
    }

    public var json: JSONValue { ["token": .string(token)] }
}

/// The parameters of `token.renew`.
public struct TokenRenewalParameters: LinkValue, Hashable {
    /// The token whose lifetime the new token copies; the caller's newest token when absent.
    public var token: String?

    public init(token: String? = nil) {
        self.token = token
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        token = try members.optionalText("token")
    }

    public var json: JSONValue { .members(["token": .text(token)]) }
}
