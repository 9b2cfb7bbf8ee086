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

extension JSONValue {
    /// An object of the members that are there.
    package static func members(_ members: [String: JSONValue?]) -> JSONValue {
        .object(members.compactMapValues { $0 })
    }

    /// An object with the members of another one, too, which go before its own.
    package func merging(_ other: JSONValue) -> JSONValue {
        guard let members = objectValue, let others = other.objectValue else { return other }
        return .object(members.merging(others) { _, other in other })
    }

    package static func text(_ text: String?) -> JSONValue? { text.map { .string($0) } }

    package static func texts(_ texts: [String]?) -> JSONValue? { texts.map { .array($0.map { .string($0) }) } }

    package static func whole(_ number: Int64?) -> JSONValue? { number.map { .integer($0) } }

    package static func flag(_ flag: Bool?) -> JSONValue? { flag.map { .bool($0) } }
}

/// `{}`, where there is nothing to say. Whatever is there is not looked at.
public struct LinkNothing: LinkValue, Hashable {
    public init() {}

    public init(_ members: LinkMembers) {}

    public var json: JSONValue { [:] }
}
