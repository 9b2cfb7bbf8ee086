public import IoTCore

/// The parameters of `user.create`.
public struct UserCreation: LinkValue, Hashable {
    public var accessId: AccessID
    /// `member` when absent.
    public var kind: AccountKind?

    public init(accessId: AccessID, kind: AccountKind? = nil) {
        self.accessId = accessId
        self.kind = kind
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        accessId = try members.accessID("accessId")
        kind = try members.optionalWord("kind", of: AccountKind.self)
    }

    public var json: JSONValue { .members(["accessId": .text(accessId.rawValue), "kind": .text(kind?.rawValue)]) }
}

/// The parameters of `user.createTemporary`.
public struct TemporaryUserCreation: LinkValue, Hashable {
    /// An id or a name.
    public var device: String
    /// Only `view` when absent.
    public var actions: BindingActions?
    public var ttlSeconds: Int64
    /// Whether the account ends with its first call.
    public var oneCall: Bool?
    /// The API token of the request that a gateway received.
    public var within: String?

    public init(
        device: String, actions: BindingActions? = nil, ttlSeconds: Int64, oneCall: Bool? = nil, within: String? = nil
    ) {
        self.device = device
        self.actions = actions
        self.ttlSeconds = ttlSeconds
        self.oneCall = oneCall
        self.within = within
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.text("device")
        actions = try members.optionalActions("actions")
        ttlSeconds = try members.lifetime("ttlSeconds", Lifetimes.temporaryAccounts)
        oneCall = try members.optionalFlag("oneCall")
        within = try members.optionalText("within")
    }

    public var json: JSONValue {
        .members([
            "device": .string(device), "actions": actions?.json, "ttlSeconds": .integer(ttlSeconds),
            "oneCall": .flag(oneCall),
            "within": .text(within),
        ])
    }
}

/// The parameters of `user.remove`.
public struct UserReference: LinkValue, Hashable {
    public var accessId: AccessID

    public init(accessId: AccessID) {
        self.accessId = accessId
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        accessId = try members.accessID("accessId")
    }

    public var json: JSONValue { ["accessId": .string(accessId.rawValue)] }
}
