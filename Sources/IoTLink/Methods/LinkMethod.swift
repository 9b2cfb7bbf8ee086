public import IoTCore

/// One method of the link: a row of the table that the hub and its clients share (`docs/link.md`, "The table of
/// methods"), with the types of its parameters and its result.
///
/// A row stands beside those types. The hub pairs it with a handler (`HubMethods`); clients ask by it. Nothing else
/// has the method's name.
public struct LinkMethod<Parameters: LinkValue, Result: LinkValue>: Sendable {
    public let row: LinkMethodRow

    public var name: String { row.name }

    /// - Parameters:
    ///   - user: what the hub demands of a user; `nil` when the method does not exist for users. `device` and
    ///     `enrolment` likewise. A method without any is one that the hub asks, or the link itself speaks.
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

    /// The same method where the hub sends it on, with what it makes of the parameters.
    public init<Asked, Answered>(sentOn method: LinkMethod<Asked, Answered>) {
        self.init(method.name)
    }

    /// Throws 25001 with the member at fault.
    public func parameters(of request: LinkRequest) throws(IoTError) -> Parameters {
        try Parameters(LinkMembers(request.params, of: request.method, failure: .invalidRequest))
    }

    /// Throws 21004 for an answer that makes no sense.
    public func result(_ json: JSONValue) throws(IoTError) -> Result {
        try Result(LinkMembers(json, of: name, failure: .modelReceiveFailed))
    }
}

/// A push: a message that wants no answer.
public struct LinkPushMethod<Parameters: LinkValue>: Sendable {
    public let name: String

    public init(_ name: String) {
        self.name = name
    }

    /// - Parameter t: ms since 1970.
    public func push(_ parameters: Parameters, t: Int64? = nil) -> LinkPush {
        LinkPush(method: name, params: parameters.json, t: t)
    }

    /// `nil` for another push, and for a damaged one.
    public func parameters(of push: LinkPush) -> Parameters? {
        guard push.method == name else { return nil }
        return try? Parameters(LinkMembers(push.params, of: name, failure: .modelReceiveFailed))
    }
}
