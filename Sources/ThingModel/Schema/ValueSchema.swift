public import IoTCore

/// A value's type with its optional range, list of allowed values, and default.
public struct ValueSchema: Sendable, Hashable {
    public var type: ValueType

    /// The smallest allowed number, for number types.
    public var minimum: Double?
    /// The largest allowed number, for number types.
    public var maximum: Double?

    /// The allowed values; empty allows every value of the type.
    public var allowed: [JSONValue]

    /// The default. Without it, the default is 0 or the nearest allowed number, `""`, or the members' defaults.
    public var explicitDefault: JSONValue?

    /// The error for a value that is not allowed: one of `refusals`.
    public var refusal: ErrorCode

    /// `valueInvalid`, and `invalidParameter` for a value with the same meaning as a parameter of a player, which is
    /// refused with it.
    static let refusals: [ErrorCode] = [.valueInvalid, .invalidParameter]

    public init(
        _ type: ValueType, minimum: Double? = nil, maximum: Double? = nil, allowed: [JSONValue] = [],
        default explicitDefault: JSONValue? = nil, refusal: ErrorCode = .valueInvalid
    ) {
        self.type = type
        self.minimum = minimum
        self.maximum = maximum
        self.allowed = allowed
        self.explicitDefault = explicitDefault
        self.refusal = refusal
    }

    public static let int32 = ValueSchema(.int32)
    public static let uint32 = ValueSchema(.uint32)
    public static let float32 = ValueSchema(.float32)
    public static let float64 = ValueSchema(.float64)

    public static func int32(_ range: ClosedRange<Int32>, default value: Int32? = nil) -> ValueSchema {
        ValueSchema(
            .int32, minimum: Double(range.lowerBound), maximum: Double(range.upperBound),
            default: value.map { .integer(Int64($0)) })
    }

    /// Text of at most `maximumBytes` UTF-8 bytes.
    public static func string(_ maximumBytes: Int, allowed: [String] = [], default value: String? = nil) -> ValueSchema
    {
        ValueSchema(
            .string(maximumBytes: maximumBytes), allowed: allowed.map { .string($0) },
            default: value.map { .string($0) })
    }

    public static func structure(_ name: String, _ fields: [ValueType.Field]) -> ValueSchema {
        ValueSchema(.structure(name: name, fields: fields))
    }

    /// The value in a new document.
    public var defaultValue: JSONValue {
        if let explicitDefault { return explicitDefault }
        switch type {
        case .string: return allowed.isEmpty || allowed.contains("") ? "" : allowed[0]
        case .structure(_, let fields):
            let present = fields.filter { !$0.isOptional }
            return .object(Dictionary(present.map { ($0.name, $0.value.defaultValue) }) { first, _ in first })
        case .int32, .uint32, .float32, .float64:
            if !allowed.isEmpty { return allowed.contains(0) ? 0 : allowed[0] }
            let nearest = max(minimum ?? 0, min(maximum ?? 0, 0))
            return Int64(exactly: nearest).map { .integer($0) } ?? .number(nearest)
        }
    }

    /// The schema of the value at `members` in this value; `nil` when there is none.
    func descendant(_ members: ArraySlice<String>) -> ValueSchema? {
        guard let first = members.first else { return self }
        guard case .structure(_, let fields) = type, let field = fields.first(where: { $0.name == first })
        else { return nil }
        return field.value.descendant(members.dropFirst())
    }

    /// The value with the defaults of the optional structures that contain the member at `members` and are absent.
    func completing(_ value: JSONValue, towards members: ArraySlice<String>) -> JSONValue {
        guard members.count > 1, let first = members.first, let inner = descendant([first]),
            case .object(var own) = value
        else { return value }
        own[first] = inner.completing(own[first] ?? inner.defaultValue, towards: members.dropFirst())
        return .object(own)
    }
}
