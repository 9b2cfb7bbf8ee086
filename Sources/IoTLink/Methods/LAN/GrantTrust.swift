public import IoTCore

/// What a device needs to check the grants of its callers without the hub.
public struct GrantTrust: LinkValue, Hashable {
    /// The hub's keys as a JWK Set (RFC 7517 §5).
    public var keys: JSONValue
    /// Grants that were issued until then, s since 1970, are not valid.
    public var ended: Int64

    public init(keys: JSONValue, ended: Int64) {
        self.keys = keys
        self.ended = ended
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        keys = try members.value("keys")
        ended = try members.integer("ended")
    }

    public var json: JSONValue { ["keys": keys, "ended": .integer(ended)] }
}
