public import IoTCore

/// Reads the members of a request's `params` or of an answer's `result`. A missing member, or one of the wrong type,
/// throws `failure` with the method and the member's name.
public struct LinkMembers: Sendable {
    public let value: JSONValue
    public let method: String
    /// 25001 for parameters, 21004 for results.
    public let failure: ErrorCode

    public init(_ value: JSONValue, of method: String, failure: ErrorCode) {
        self.value = value
        self.method = method
        self.failure = failure
    }

    /// Returns the error for a member that is not `kind`.
    public func wrong(_ name: String, _ kind: String) -> IoTError {
        wrong("'\(name)' must be \(kind)")
    }

    public func wrong(_ message: String) -> IoTError {
        let reason = failure == .invalidRequest ? message : "the answer is malformed: \(message)"
        return IoTError(failure, "\(method): \(reason)")
    }

    public subscript(name: String) -> JSONValue? { value[name] }

    /// Returns `nil` for a member that is missing or null.
    func given(_ name: String) -> JSONValue? {
        let member = value[name]
        return member == .null ? nil : member
    }

    public func text(_ name: String) throws(IoTError) -> String {
        guard let text = value[name]?.stringValue else { throw wrong(name, "a text") }
        return text
    }

    public func value(_ name: String) throws(IoTError) -> JSONValue {
        guard let value = value[name] else { throw wrong(name, "given") }
        return value
    }

    public func integer(_ name: String) throws(IoTError) -> Int64 {
        guard let number = value[name]?.integerValue else { throw wrong(name, "a whole number") }
        return number
    }

    public func optionalInteger(_ name: String) throws(IoTError) -> Int64? {
        guard let value = given(name) else { return nil }
        guard let number = value.integerValue else { throw wrong(name, "a whole number") }
        return number
    }

    public func list(_ name: String, atMost count: Int = .max) throws(IoTError) -> [JSONValue] {
        guard let list = value[name]?.arrayValue else { throw wrong(name, "a list") }
        guard list.count <= count else { throw wrong(name, "a list of at most \(count)") }
        return list
    }

    /// Reads a member as `Value`. Returns `nil` when it is missing or null.
    public func optional<Value: LinkValue>(_ name: String, as type: Value.Type) throws(IoTError) -> Value? {
        guard let value = given(name) else { return nil }
        return try Value(LinkMembers(value, of: method, failure: failure))
    }

    /// Reads each element of a list as `Element`.
    public func list<Element: LinkValue>(
        _ name: String, of type: Element.Type, atMost count: Int = .max
    ) throws(IoTError) -> [Element] {
        var elements: [Element] = []
        for element in try list(name, atMost: count) {
            elements.append(try Element(LinkMembers(element, of: method, failure: failure)))
        }
        return elements
    }

    /// Reads the lines of an answer and skips those that this version cannot read.
    public func readable<Line: LinkValue>(_ name: String, of type: Line.Type) throws(IoTError) -> [Line] {
        try list(name).compactMap { try? Line(LinkMembers($0, of: method, failure: failure)) }
    }

    /// Reads a word of a fixed set.
    public func word<Word: RawRepresentable & CaseIterable>(
        _ name: String, of type: Word.Type
    ) throws(IoTError) -> Word where Word.RawValue == String {
        guard let word = try optionalWord(name, of: type) else { throw wrong(name, Self.choice(type)) }
        return word
    }

    public func optionalWord<Word: RawRepresentable & CaseIterable>(
        _ name: String, of type: Word.Type
    ) throws(IoTError) -> Word? where Word.RawValue == String {
        guard let text = try optionalText(name) else { return nil }
        guard let word = Word(rawValue: text) else { throw wrong(name, Self.choice(type)) }
        return word
    }

    private static func choice<Word: RawRepresentable & CaseIterable>(_ type: Word.Type) -> String
    where Word.RawValue == String {
        "one of " + type.allCases.map(\.rawValue).joined(separator: ", ")
    }

    public func principal(_ name: String) throws(IoTError) -> Principal {
        guard let principal = Principal(try text(name)) else { throw wrong(name, "u/<access id> or d/<device id>") }
        return principal
    }

    /// Returns `nil` when the member is missing. Null throws, because it is not an object.
    public func optionalObject(_ name: String) throws(IoTError) -> [String: JSONValue]? {
        guard let value = value[name] else { return nil }
        guard let object = value.objectValue else { throw wrong(name, "an object") }
        return object
    }

    public func optionalText(_ name: String) throws(IoTError) -> String? {
        guard let value = given(name) else { return nil }
        guard let text = value.stringValue else { throw wrong(name, "a text") }
        return text
    }

    public func flag(_ name: String) throws(IoTError) -> Bool {
        try optionalFlag(name) ?? false
    }

    public func optionalFlag(_ name: String) throws(IoTError) -> Bool? {
        guard let value = given(name) else { return nil }
        guard let flag = value.boolValue else { throw wrong(name, "true or false") }
        return flag
    }

    public func accessID(_ name: String) throws(IoTError) -> AccessID {
        guard let id = try optionalAccessID(name) else { throw wrong(name, "an access id ([a-z0-9_-]{1,64})") }
        return id
    }

    /// Reads an account, as an access id or `u/<access id>`.
    public func optionalAccessID(_ name: String) throws(IoTError) -> AccessID? {
        guard let text = try optionalText(name) else { return nil }
        guard let id = AccessID(rawValue: text) ?? Principal(text)?.accessID else {
            throw wrong(name, "an access id ([a-z0-9_-]{1,64})")
        }
        return id
    }

    /// Reads a principal, as `u/<access id>`, `d/<device id>` or an access id.
    public func optionalPrincipal(_ name: String) throws(IoTError) -> Principal? {
        guard let text = try optionalText(name) else { return nil }
        guard let principal = Principal(text) ?? AccessID(rawValue: text).map({ .user($0) }),
            principal.kind != .enrolment
        else { throw wrong(name, "an access id, u/<access id> or d/<device id>") }
        return principal
    }

    public func optionalTexts(_ name: String, atMost count: Int = .max) throws(IoTError) -> [String]? {
        guard given(name) != nil else { return nil }
        var texts: [String] = []
        for element in try list(name, atMost: count) {
            guard let text = element.stringValue else { throw wrong(name, "a list of texts") }
            texts.append(text)
        }
        return texts
    }

    /// Reads at least one of `view`, `talk`, `playback`, `control`, `configure`.
    public func optionalActions(_ name: String) throws(IoTError) -> BindingActions? {
        guard let value = given(name) else { return nil }
        guard let actions = BindingActions(json: value), !actions.isEmpty else {
            throw wrong(name, "a list of " + BindingActions.all.names.joined(separator: ", "))
        }
        return actions
    }

    /// Reads the actions of an answer and skips unknown ones. Returns `nil` when the member is missing or null.
    public func knownActions(_ name: String) throws(IoTError) -> [DeviceAction]? {
        guard let value = given(name) else { return nil }
        guard let actions = DeviceAction.list(value) else { throw wrong(name, "a list of actions") }
        return actions
    }

    /// Reads a lifetime in seconds, within `range`.
    public func lifetime(
        _ name: String, _ range: ClosedRange<Int64>, default usual: Int64? = nil
    ) throws(IoTError) -> Int64 {
        guard let seconds = try optionalInteger(name) ?? usual, range.contains(seconds) else {
            throw wrong(name, "\(range.lowerBound) to \(range.upperBound) seconds")
        }
        return seconds
    }

    public func optionalLifetime(_ name: String, _ range: ClosedRange<Int64>) throws(IoTError) -> Int64? {
        try given(name).map { _ throws(IoTError) in try lifetime(name, range) }
    }

    public func deviceID(_ name: String) throws(IoTError) -> DeviceID {
        guard let id = DeviceID(rawValue: try text(name)) else { throw wrong(name, "a device id") }
        return id
    }

    /// Reads a channel kind by its name or number; `monitor` when it is missing or null.
    public func channelKind(_ name: String) throws(IoTError) -> ChannelKind {
        guard let value = given(name) else { return .monitor }
        let kind = ChannelKind.allCases.first {
            value.stringValue == $0.name || value.integerValue == Int64($0.rawValue)
        }
        guard let kind else {
            throw wrong(name, "one of " + ChannelKind.allCases.map(\.name).joined(separator: ", "))
        }
        return kind
    }
}
