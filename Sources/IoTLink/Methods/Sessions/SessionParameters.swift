public import IoTCore

/// The parameters of `session.begin`.
public struct SessionBeginning: LinkValue, Hashable {
    /// The session id, as in the topic.
    public var session: String?
    /// The versions of this protocol that the client supports.
    public var versions: [Int64]?
    /// Whether the session accepts envelope batches.
    public var batches: Bool
    /// Distinguishes the connections of a session, so that the will of an earlier connection does not end the session.
    public var connection: Int64?

    public init(session: String, connection: Int64) {
        self.session = session
        versions = [1]
        batches = true
        self.connection = connection
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        session = try members.optionalText("session")
        versions = members["versions"]?.arrayValue?.compactMap(\.integerValue)
        batches = try members.flag("batches")
        connection = try members.optionalInteger("connection")
    }

    public var json: JSONValue {
        .members([
            "session": .text(session), "versions": versions.map { .array($0.map { .integer($0) }) },
            "batches": .bool(batches), "connection": .whole(connection),
        ])
    }
}

/// The result of `session.begin`.
public struct SessionBegun: LinkValue, Hashable {
    public var time: SessionTime
    public var principal: Principal?
    /// s since 1970; `nil` for a principal without a token.
    public var tokenExpires: Int64?
    /// For a device: the keys with which it verifies the tokens of calls, as a JWK Set (RFC 7517 §5). The device has
    /// them before any call, because the hub forwards calls only to a session that has begun.
    public var tokenKeys: JSONValue?
    /// For a device: its present owner's number, as in `device.owned`. So it knows of a new owner before any call.
    public var ownership: Int64?
    /// For a device: grants for its own network that were issued until then, s since 1970, are not valid, because
    /// somebody's rights were withdrawn.
    public var grantsEnded: Int64?
    /// Whether the hub accepts envelope batches.
    public var batches: Bool

    public init(
        time: SessionTime, principal: Principal, tokenExpires: Int64?, tokenKeys: JSONValue?, ownership: Int64? = nil,
        grantsEnded: Int64? = nil, batches: Bool = false
    ) {
        self.time = time
        self.principal = principal
        self.tokenExpires = tokenExpires
        self.tokenKeys = tokenKeys
        self.ownership = ownership
        self.grantsEnded = grantsEnded
        self.batches = batches
    }

    /// Ignores malformed members, which must not keep a principal offline.
    public init(_ members: LinkMembers) {
        time = SessionTime(members)
        principal = members["principal"]?.stringValue.flatMap(Principal.init)
        tokenExpires = members["tokenExpires"]?.integerValue
        tokenKeys = members["tokenKeys"]
        ownership = members["ownership"]?.integerValue
        grantsEnded = members["grantsEnded"]?.integerValue
        batches = members["batches"]?.boolValue ?? false
    }

    public var json: JSONValue {
        var json = time.json
        json["principal"] = .text(principal?.description)
        json["kind"] = principal.map { $0.kind == .device ? "device" : "user" }
        json["tokenExpires"] = .whole(tokenExpires) ?? .null
        json["tokenKeys"] = tokenKeys
        json["ownership"] = .whole(ownership)
        json["grantsEnded"] = .whole(grantsEnded)
        json["batches"] = .bool(batches)
        return json
    }
}

/// The parameters of `session.heartbeat`.
public struct SessionHeartbeat: LinkValue, Hashable {
    /// The connection that the session uses from now on.
    public var connection: Int64?

    public init(connection: Int64? = nil) {
        self.connection = connection
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        connection = try members.optionalInteger("connection")
    }

    public var json: JSONValue { .members(["connection": .whole(connection)]) }
}

/// The hub's time: the result of `session.heartbeat`, and part of the result of `session.begin`.
public struct SessionTime: LinkValue, Hashable {
    /// Up to the year 9999, so that arithmetic on it cannot overflow.
    private static let range: ClosedRange<Int64> = 0...253_402_300_799_999

    /// ms since 1970; `nil` when it is missing, malformed or out of range.
    public var t: Int64?

    public init(t: Int64) {
        self.t = t
    }

    public init(_ members: LinkMembers) {
        t = members["t"]?.integerValue.flatMap { Self.range.contains($0) ? $0 : nil }
    }

    public var json: JSONValue { .members(["t": .whole(t)]) }
}

/// The parameters of `session.end`.
public struct SessionEnding: LinkValue, Hashable {
    public enum Reason: String, Sendable {
        case left
        case connectionLost
    }

    /// `nil` for an unknown reason.
    public var reason: Reason?
    public var connection: Int64?

    public init(_ reason: Reason, connection: Int64? = nil) {
        self.reason = reason
        self.connection = connection
    }

    /// Never throws: the session has ended, whatever the members are.
    public init(_ members: LinkMembers) {
        reason = members["reason"]?.stringValue.flatMap(Reason.init)
        connection = members["connection"]?.integerValue
    }

    public var json: JSONValue {
        .members(["reason": .text(reason?.rawValue), "connection": .whole(connection)])
    }
}

/// The parameters of `session.kick`.
public struct SessionKick: LinkValue, Hashable {
    /// A `LinkKickReason`, or a reason of a newer hub.
    public var word: String?

    public init(_ reason: LinkKickReason) {
        word = reason.rawValue
    }

    /// Never throws: the session has ended, whatever the members are.
    public init(_ members: LinkMembers) {
        word = members["reason"]?.stringValue
    }

    public var reason: LinkKickReason { word.flatMap { LinkKickReason(rawValue: $0) } ?? .unknown }

    public var json: JSONValue { .members(["reason": .text(word)]) }
}

/// `request.finish`
public struct FinishedRequest: LinkValue, Hashable {
    /// The request's id, as its receiver knows it.
    public var id: String
    /// Who asked. Only the hub sets it.
    public var from: Principal?

    public init(id: String, from: Principal? = nil) {
        self.id = id
        self.from = from
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        id = try members.text("id")
        from = try members.optionalText("from").flatMap { Principal($0) }
    }

    public var json: JSONValue { .members(["id": .string(id), "from": .text(from?.description)]) }
}
