public import IoTCore

/// What stands in the `params` of a request or a push, or in the `result` of an answer.
public protocol LinkValue: Sendable {
    /// Unknown members are ignored. Throws `members.failure` with the member at fault.
    init(_ members: LinkMembers) throws(IoTError)

    var json: JSONValue { get }
}

/// Any value: for what the link passes on without looking at it.
extension JSONValue: LinkValue {
    public init(_ members: LinkMembers) {
        self = members.value
    }

    public var json: JSONValue { self }
}

/// `{}`, where there is nothing to say. Whatever is there is not looked at.
public struct LinkNothing: LinkValue, Hashable {
    public init() {}

    public init(_ members: LinkMembers) {}

    public var json: JSONValue { [:] }
}
