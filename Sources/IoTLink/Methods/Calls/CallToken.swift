public import IoTCore

/// An action that a call may be used for.
public enum CallAction: String, Sendable, Hashable, CaseIterable {
    case view
    case listen
    case talk
    case playback
    case control

    /// The actions of the binding that its user must have.
    public var need: BindingActions {
        switch self {
        case .view, .listen: .view
        case .talk: .talk
        case .playback: .playback
        case .control: .control
        }
    }
}

/// The parameters of `call.token`.
public struct CallTokenQuery: LinkValue, Hashable {
    private static let mostActions = 16

    /// An id or a name.
    public var device: String
    public var kind: ChannelKind
    public var actions: [CallAction]

    public init(device: DeviceID, kind: ChannelKind, actions: [CallAction]) {
        self.device = device.rawValue
        self.kind = kind
        self.actions = actions
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.text("device")
        kind = try members.channelKind("kind")
        actions = []
        for element in try members.list("actions", atMost: Self.mostActions) {
            guard let action = element.stringValue.flatMap(CallAction.init) else {
                let names = CallAction.allCases.map(\.rawValue).sorted()
                throw members.wrong("actions are \(names.joined(separator: ", "))")
            }
            if !actions.contains(action) { actions.append(action) }
        }
        guard !actions.isEmpty else { throw members.wrong("'actions' is empty") }
    }

    public var json: JSONValue {
        [
            "device": .string(device), "kind": .string(kind.name),
            "actions": .array(actions.map { .string($0.rawValue) }),
        ]
    }
}

/// The result of `call.token`.
public struct CallToken: LinkValue, Hashable {
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

/// The claims of a call token (RFC 7519): the user, the device, the kind of channel and the permitted actions. The hub
/// signs them, and the device enforces them.
public struct CallTokenClaims: LinkValue, Hashable {
    /// The value of `kind`. It prevents a token of one kind from being used as another.
    public static let tokenKind = "call"

    /// The device.
    public var sub: Principal
    /// The user.
    public var from: Principal
    public var channel: ChannelKind
    public var actions: [CallAction]
    public var jti: String
    /// s since 1970.
    public var iat: Int64
    public var exp: Int64
    /// Whether the user owns the device; `nil` in tokens of an earlier hub.
    public var owner: Bool?

    public init(
        sub: Principal, from: Principal, channel: ChannelKind, actions: [CallAction], jti: String, iat: Int64,
        exp: Int64, owner: Bool? = nil
    ) {
        self.sub = sub
        self.from = from
        self.channel = channel
        self.actions = actions
        self.jti = jti
        self.iat = iat
        self.exp = exp
        self.owner = owner
    }

    /// Also throws for a token of another kind.
    public init(_ members: LinkMembers) throws(IoTError) {
        guard members["kind"]?.stringValue == Self.tokenKind else { throw members.wrong("kind", "'\(Self.tokenKind)'") }
        sub = try members.principal("sub")
        from = try members.principal("from")
        guard members["channel"] != nil else { throw members.wrong("channel", "given") }
        channel = try members.channelKind("channel")
        actions = try members.callActions("actions")
        jti = try members.text("jti")
        iat = try members.integer("iat")
        exp = try members.integer("exp")
        owner = try members.optionalFlag("owner")
    }

    public var json: JSONValue {
        .members([
            "kind": .string(Self.tokenKind), "sub": .string(sub.description), "from": .string(from.description),
            "channel": .string(channel.name), "actions": .array(actions.map { .string($0.rawValue) }),
            "jti": .string(jti), "iat": .integer(iat), "exp": .integer(exp), "owner": .flag(owner),
        ])
    }
}

/// A caller's permissions in a call, from the token or from the hub.
public struct CallGrant: LinkValue, Hashable {
    /// The calling principal.
    public var user: Principal
    public var kind: ChannelKind
    public var actions: [CallAction]
    /// s since 1970.
    public var expires: Int64
    /// Whether the caller owns the device; `false` from an earlier hub.
    public var isOwner: Bool

    public init(user: Principal, kind: ChannelKind, actions: [CallAction], expires: Int64, isOwner: Bool) {
        self.user = user
        self.kind = kind
        self.actions = actions
        self.expires = expires
        self.isOwner = isOwner
    }

    public init(_ claims: CallTokenClaims) {
        self.init(
            user: claims.from, kind: claims.channel, actions: claims.actions, expires: claims.exp,
            isOwner: claims.owner ?? false)
    }

    /// What a caller on the device's own network may do in a call: all that the grant allows.
    public init(_ claims: LANGrantClaims, kind: ChannelKind) {
        let actions = CallAction.allCases.filter { claims.actions.isSuperset(of: $0.need) }
        self.init(user: claims.from, kind: kind, actions: actions, expires: claims.exp, isOwner: claims.owner)
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        user = try members.principal("user")
        kind = try members.channelKind("kind")
        actions = try members.callActions("actions")
        expires = try members.integer("expires")
        isOwner = try members.flag("owner")
    }

    public var json: JSONValue {
        [
            "user": .string(user.description), "kind": .string(kind.name),
            "actions": .array(actions.map { .string($0.rawValue) }), "expires": .integer(expires),
            "owner": .bool(isOwner),
        ]
    }
}

extension LinkMembers {
    /// Reads actions and skips unknown ones.
    fileprivate func callActions(_ name: String) throws(IoTError) -> [CallAction] {
        try list(name).compactMap { $0.stringValue.flatMap(CallAction.init) }
    }
}
