public import IoTCore

/// The parameters of `lan.grant`.
public struct LANGrantQuery: LinkValue, Hashable {
    /// An id or a name.
    public var device: String
    /// Of the key with which the user's gateway will prove itself to the device.
    public var key: KeyFingerprint

    public init(device: DeviceID, key: KeyFingerprint) {
        self.device = device.rawValue
        self.key = key
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.text("device")
        key = try members.keyFingerprint("key")
    }

    public var json: JSONValue { ["device": .string(device), "key": .string(key.description)] }
}

/// The result of `lan.grant`.
public struct LANGrant: LinkValue, Hashable {
    public var token: String
    /// s since 1970.
    public var expires: Int64

    public init(token: String, expires: Int64) {
        self.token = token
        self.expires = expires
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        token = try members.text("token")
        expires = try members.integer("expires")
    }

    public var json: JSONValue { ["token": .string(token), "expires": .integer(expires)] }
}

/// The parameters of `lan.begin`.
public struct LANGrantText: LinkValue, Hashable {
    public var grant: String

    public init(grant: String) {
        self.grant = grant
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        grant = try members.text("grant")
    }

    public var json: JSONValue { ["grant": .string(grant)] }
}

/// The claims of a LAN grant (RFC 7519): what a user may do at a device over its own network, from the gateway that has
/// the key. The hub signs them, and the device checks them.
public struct LANGrantClaims: LinkValue, Hashable {
    /// The value of `kind`. It prevents a token of one kind from being used as another.
    public static let tokenKind = "lan"

    /// The device.
    public var sub: Principal
    /// The user.
    public var from: Principal
    public var actions: BindingActions
    public var owner: Bool
    /// Of the gateway's key. A grant is of no use to anybody else.
    public var key: KeyFingerprint
    public var jti: String
    /// s since 1970.
    public var iat: Int64
    public var exp: Int64

    public init(
        sub: Principal, from: Principal, actions: BindingActions, owner: Bool, key: KeyFingerprint, jti: String,
        iat: Int64, exp: Int64
    ) {
        self.sub = sub
        self.from = from
        self.actions = actions
        self.owner = owner
        self.key = key
        self.jti = jti
        self.iat = iat
        self.exp = exp
    }

    /// Also throws for a token of another kind.
    public init(_ members: LinkMembers) throws(IoTError) {
        guard members["kind"]?.stringValue == Self.tokenKind else { throw members.wrong("kind", "'\(Self.tokenKind)'") }
        sub = try members.principal("sub")
        from = try members.principal("from")
        actions = BindingActions(try members.knownActions("actions") ?? [])
        owner = try members.flag("owner")
        key = try members.keyFingerprint("key")
        jti = try members.text("jti")
        iat = try members.integer("iat")
        exp = try members.integer("exp")
    }

    public var json: JSONValue {
        [
            "kind": .string(Self.tokenKind), "sub": .string(sub.description), "from": .string(from.description),
            "actions": actions.json, "owner": .bool(owner), "key": .string(key.description), "jti": .string(jti),
            "iat": .integer(iat), "exp": .integer(exp),
        ]
    }
}

extension LinkMembers {
    func keyFingerprint(_ name: String) throws(IoTError) -> KeyFingerprint {
        guard let fingerprint = KeyFingerprint(try text(name)) else {
            throw wrong(name, "SHA256: and 43 characters of base64")
        }
        return fingerprint
    }
}
