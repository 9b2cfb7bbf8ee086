/// The type of a property's value, as in the vendor's schemas.
public enum ValueType: Sendable, Hashable {
    case int32
    case uint32
    case float32
    case float64
    /// UTF-8 text of at most `maximumBytes` bytes; in a schema, `string32` for 32 bytes.
    case string(maximumBytes: Int)
    case structure(name: String, fields: [Field])

    /// The length of the longest string type, in bytes.
    private static let maximumStringLength = 65_535

    /// One member of a structure.
    public struct Field: Sendable, Hashable {
        public var name: String
        public var description: String
        public var value: ValueSchema
        /// Whether it may be left out of a whole structure. The structure's default does not contain it.
        public var isOptional: Bool

        public init(_ name: String, _ value: ValueSchema, description: String = "", isOptional: Bool = false) {
            self.name = name
            self.description = description
            self.value = value
            self.isOptional = isOptional
        }
    }

    /// The name in a schema.
    public var name: String {
        switch self {
        case .int32: "int32"
        case .uint32: "uint32"
        case .float32: "float32"
        case .float64: "float64"
        case .string(let length): "string\(length)"
        case .structure(let name, _): name
        }
    }

    /// A simple type by its name; `nil` for any other name.
    init?(simpleName name: String) {
        switch name {
        case "int32": self = .int32
        case "uint32": self = .uint32
        case "float32": self = .float32
        case "float64": self = .float64
        default:
            let digits = name.dropFirst(6)
            guard name.hasPrefix("string"), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let length = Int(digits), (1...Self.maximumStringLength).contains(length)
            else { return nil }
            self = .string(maximumBytes: length)
        }
    }

    var isNumber: Bool {
        switch self {
        case .int32, .uint32, .float32, .float64: true
        case .string, .structure: false
        }
    }

    /// Whether both types have values of the same form. Ranges and descriptions are ignored.
    func isSameType(as other: ValueType) -> Bool {
        guard case .structure(_, let fields) = self, case .structure(_, let others) = other else {
            return self == other
        }
        guard fields.count == others.count else { return false }
        let types = Dictionary(others.map { ($0.name, $0.value.type) }) { first, _ in first }
        return fields.allSatisfy { types[$0.name]?.isSameType(as: $0.value.type) == true }
    }
}
