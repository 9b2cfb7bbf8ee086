public import IoTCore

/// A request: `{"id","method","as"?,"from"?,"params","t","deadline"}`.
public struct LinkRequest: Sendable, Equatable {
    /// Makes the request idempotent: a repeat gets the first answer.
    public var id: String
    public var method: String
    /// Who asked. Only the hub sets it.
    public var from: Principal?
    /// What the caller may do, for a request over a connection on the device's own network. It is not on the wire; `nil`
    /// for a request from the hub, which has checked the caller's rights.
    public var grant: LANGrantClaims?
    /// The account in whose name an administrator asks; `"as"` on the wire.
    public var actingAs: Principal?
    public var params: JSONValue
    /// When it was made, in ms since 1970 on the hub's clock.
    public var t: Int64
    /// It is executed only before this time, in ms since 1970 on the hub's clock.
    public var deadline: Int64

    public init(
        id: String, method: String, from: Principal? = nil, actingAs: Principal? = nil,
        params: JSONValue = .object([:]), t: Int64, deadline: Int64
    ) {
        self.id = id
        self.method = method
        self.from = from
        self.actingAs = actingAs
        self.params = params
        self.t = t
        self.deadline = deadline
    }

    var json: JSONValue {
        var members: [String: JSONValue] = [
            "id": .string(id), "method": .string(method), "params": params, "t": .integer(t),
            "deadline": .integer(deadline),
        ]
        if let from { members["from"] = .string(from.description) }
        if let actingAs { members["as"] = .string(actingAs.description) }
        return .object(members)
    }
}
