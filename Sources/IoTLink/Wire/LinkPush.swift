public import IoTCore

/// A message without an answer: `{"method","params","t"?}`.
public struct LinkPush: Sendable, Equatable {
    public var method: String
    public var params: JSONValue
    /// When it was made, in ms since 1970; a will has none.
    public var t: Int64?

    public init(method: String, params: JSONValue = .object([:]), t: Int64? = nil) {
        self.method = method
        self.params = params
        self.t = t
    }

    var json: JSONValue {
        var members: [String: JSONValue] = ["method": .string(method), "params": params]
        if let t { members["t"] = .integer(t) }
        return .object(members)
    }
}
