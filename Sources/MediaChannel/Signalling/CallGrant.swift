import IoTCore

/// What the hub checked of a caller before it forwarded the call.
struct CallGrant: Sendable, Hashable {
    /// The calling principal, `u/<accessId>`.
    let user: String
    let actions: Set<String>
    /// Whether the caller owns the device; a hub of before says nothing of it.
    let isOwner: Bool
    /// Seconds since 1970.
    let expires: Int64

    init?(_ value: JSONValue?) {
        guard let user = value?["user"]?.stringValue, let expires = value?["expires"]?.integerValue,
            let actions = value?["actions"]?.arrayValue
        else { return nil }
        self.user = user
        self.expires = expires
        isOwner = value?["owner"]?.boolValue ?? false
        self.actions = Set(actions.compactMap(\.stringValue))
    }
}
