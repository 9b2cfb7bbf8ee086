public import IoTCore

/// The `params` of a request or a push, or the `result` of an answer.
public protocol LinkValue: Sendable {
    /// Ignores unknown members. Throws `members.failure` with the name of the malformed member.
    init(_ members: LinkMembers) throws(IoTError)

    var json: JSONValue { get }
}

/// Any value, for data that the link forwards without reading it.
extension JSONValue: LinkValue {
    public init(_ members: LinkMembers) {
        self = members.value
    }

    public var json: JSONValue { self }
}

extension JSONValue {
    /// An object with the members that are not `nil`.
    package static func members(_ members: [String: JSONValue?]) -> JSONValue {
        .object(members.compactMapValues { $0 })
    }

    /// An object with the members of both. Those of `other` take precedence.
    package func merging(_ other: JSONValue) -> JSONValue {
        guard let members = objectValue, let others = other.objectValue else { return other }
        return .object(members.merging(others) { _, other in other })
    }

    package static func text(_ text: String?) -> JSONValue? { text.map { .string($0) } }

    package static func texts(_ texts: [String]?) -> JSONValue? { texts.map { .array($0.map { .string($0) }) } }

    package static func whole(_ number: Int64?) -> JSONValue? { number.map { .integer($0) } }

    package static func flag(_ flag: Bool?) -> JSONValue? { flag.map { .bool($0) } }
}

/// No parameters or no result: writes `{}`, and ignores what it reads.
public struct LinkNothing: LinkValue, Hashable {
    public init() {}

    public init(_ members: LinkMembers) {}

    public var json: JSONValue { [:] }
}
