import IoTCore

/// What a caller may do in a call.
struct CallGrant: Sendable, Hashable {
    /// The calling principal, `u/<accessId>`.
    let user: String
    let kind: ChannelKind
    let actions: Set<String>
    /// Whether the caller owns the device.
    let isOwner: Bool
    /// Seconds since 1970.
    let expires: Int64

    /// What a call token says (RFC 7519); `nil` for a token of another kind.
    init?(token claims: JSONValue) {
        guard claims["kind"] == "call", let user = claims["from"]?.stringValue,
            let kind = ChannelKind.allCases.first(where: { claims["channel"]?.stringValue == $0.name }),
            let actions = claims["actions"]?.arrayValue, let expires = claims["exp"]?.integerValue
        else { return nil }
        self.user = user
        self.kind = kind
        self.actions = Set(actions.compactMap(\.stringValue))
        isOwner = claims["owner"]?.boolValue ?? false
        self.expires = expires
    }

    /// The word of a hub that gives its devices no keys. It speaks of the kind of channel, and of the owner, only if it
    /// is new enough.
    init?(vouched grant: JSONValue?, kind: ChannelKind) {
        guard let user = grant?["user"]?.stringValue, let expires = grant?["expires"]?.integerValue,
            let actions = grant?["actions"]?.arrayValue
        else { return nil }
        self.user = user
        self.kind = kind
        self.actions = Set(actions.compactMap(\.stringValue))
        isOwner = grant?["owner"]?.boolValue ?? false
        self.expires = expires
    }
}
