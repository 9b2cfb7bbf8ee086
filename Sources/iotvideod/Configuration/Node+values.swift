import IoTCore
import Yams

// `flag` and `integer` accept unquoted values only; `text` refuses an unquoted null.
extension Node {
    private var scalarText: String {
        get throws(ValueRefusal) {
            guard let scalar else { throw ValueRefusal("must be one value, not a list or a mapping") }
            return scalar.string
        }
    }

    private var isPlain: Bool {
        scalar.map { $0.style == .plain || $0.style == .any } ?? false
    }

    /// An unquoted whole number is an integer. Other scalars are strings; lists and mappings are null.
    var plainValue: JSONValue {
        guard let scalar else { return .null }
        if isPlain, let number = Int64(scalar.string) { return .integer(number) }
        return .string(scalar.string)
    }

    func text() throws(ValueRefusal) -> String {
        let text = try scalarText
        if isPlain, text.isEmpty || text == "~" || text == "null" { throw ValueRefusal("has no value") }
        return text
    }

    func flag() throws(ValueRefusal) -> Bool {
        switch (try scalarText, isPlain) {
        case ("true", true): true
        case ("false", true): false
        default: throw ValueRefusal("must be true or false")
        }
    }

    func integer(in range: ClosedRange<Int>) throws(ValueRefusal) -> Int {
        guard isPlain, let value = Int(try scalarText), range.contains(value) else {
            throw ValueRefusal("must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// `30s`, `500ms`, `2m`, `1h`.
    func duration(in range: ClosedRange<Duration>) throws(ValueRefusal) -> Duration {
        let text = try scalarText
        let number = text.prefix { $0.isASCII && $0.isNumber }
        let refusal = ValueRefusal(
            "must be a duration from \(Self.name(range.lowerBound)) to \(Self.name(range.upperBound)), "
                + "such as 500ms, 30s, 2m or 1h")
        guard let count = Int(number), count < 1_000_000_000 else { throw refusal }
        let value: Duration
        switch text.dropFirst(number.count) {
        case "ms": value = .milliseconds(count)
        case "s": value = .seconds(count)
        case "m": value = .seconds(count * 60)
        case "h": value = .seconds(count * 3600)
        default: throw refusal
        }
        guard range.contains(value) else { throw refusal }
        return value
    }

    /// A list of at most 64 values.
    func list<Value>(_ read: (Node) throws(ValueRefusal) -> Value) throws(ValueRefusal) -> [Value] {
        guard let sequence, sequence.count <= 64 else { throw ValueRefusal("must be a list of at most 64 values") }
        var values: [Value] = []
        for item in sequence { values.append(try read(item)) }
        return values
    }

    /// A mapping of at most 64 names to values.
    func mapping<Value>(_ read: (Node) throws(ValueRefusal) -> Value) throws(ValueRefusal) -> [String: Value] {
        guard let mapping, mapping.count <= 64 else { throw ValueRefusal("must be a mapping of at most 64 names") }
        var values: [String: Value] = [:]
        for (name, value) in mapping { values[try name.text()] = try read(value) }
        return values
    }

    /// Returns a host name or address in lower case: host names are case-insensitive.
    func hostName() throws(ValueRefusal) -> String {
        let text = try text()
        guard HostName.isValid(text) else {
            throw ValueRefusal("contains '\(text)', which is not a host name or address")
        }
        return text.lowercased()
    }

    func choice<Value: RawRepresentable & CaseIterable>(_ type: Value.Type) throws(ValueRefusal) -> Value
    where Value.RawValue == String {
        guard let value = Value(rawValue: try scalarText) else {
            throw ValueRefusal("must be one of " + type.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return value
    }

    private static func name(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        if attoseconds != 0 { return "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)ms" }
        return seconds % 3600 == 0 && seconds > 0 ? "\(seconds / 3600)h" : "\(seconds)s"
    }
}
