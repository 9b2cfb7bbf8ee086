public import IoTCore

/// One method of the link, with the types of its parameters and its result: a row of the table that the hub and its
/// clients share (`docs/link.md`, "The table of methods").
///
/// The hub pairs it with a handler (`HubMethods`), and clients send requests with it. The method's name is written
/// nowhere else.
public struct LinkMethod<Parameters: LinkValue, Result: LinkValue>: Sendable {
    public let row: LinkMethodRow

    public var name: String { row.name }

    /// - Parameters:
    ///   - user: the right that a user needs; `nil` when the method does not exist for users. `device` and `enrolment`
    ///     likewise. A method without any right is one that the hub requests, or that the link itself uses.
    ///   - isDurable: see `LinkMethodRow`.
    ///   - longestDeadline: see `LinkMethodRow`.
    public init(
        _ name: String, user: LinkRight? = nil, device: LinkRight? = nil, enrolment: LinkRight? = nil,
        isDurable: Bool = false, longestDeadline: Duration? = nil
    ) {
        row = LinkMethodRow(
            name: name, user: user, device: device, enrolment: enrolment, isDurable: isDurable,
            longestDeadline: longestDeadline)
    }

    /// The same method as the hub forwards it, with the hub's own types of parameters and result.
    public init<Asked, Answered>(sentOn method: LinkMethod<Asked, Answered>) {
        self.init(method.name)
    }

    /// Throws 25001 with the name of the malformed member.
    public func parameters(of request: LinkRequest) throws(IoTError) -> Parameters {
        try Parameters(LinkMembers(request.params, of: request.method, failure: .invalidRequest))
    }

    /// Throws 21004 for a malformed answer.
    public func result(_ json: JSONValue) throws(IoTError) -> Result {
        try Result(LinkMembers(json, of: name, failure: .modelReceiveFailed))
    }
}

/// A push method: a message without an answer.
public struct LinkPushMethod<Parameters: LinkValue>: Sendable {
    public let name: String

    public init(_ name: String) {
        self.name = name
    }

    /// - Parameter t: ms since 1970.
    public func push(_ parameters: Parameters, t: Int64? = nil) -> LinkPush {
        LinkPush(method: name, params: parameters.json, t: t)
    }

    /// Returns `nil` for another push, and for a malformed one.
    public func parameters(of push: LinkPush) -> Parameters? {
        guard push.method == name else { return nil }
        return try? Parameters(LinkMembers(push.params, of: name, failure: .modelReceiveFailed))
    }
}
