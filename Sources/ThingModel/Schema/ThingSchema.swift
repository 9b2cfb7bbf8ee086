public import IoTCore

/// The properties of a device's model: the built-ins and the device's own.
///
/// In Swift a schema is created from a list:
/// ```swift
/// let schema = try ThingSchema([
///     .readonly("viewers", .uint32, "how many watch now"),
///     .action("cameraOn", .int32(0...1, default: 1), "1 streams, 0 does not"),
///     .writable("quality", .string(16, allowed: ["low", "high"]), "the stream to send"),
/// ])
/// ```
/// On the wire it has the vendor's form; see `init(vendorForm:)`.
public struct ThingSchema: Sendable, Hashable {
    /// The longest name of a property or a member, in bytes.
    public static let maximumNameLength = PropertyName.maximumLength
    /// The most values, structure members included, that one schema may describe.
    public static let maximumValueCount = 4096
    /// The maximum bytes of names, descriptions, defaults and enums in the vendor form. A structure counts each time it
    /// is used, because a small text that uses one large structure a thousand times describes a large model.
    public static let maximumTextSize = 240 * 1024
    /// The most values of one enum.
    static let maximumAllowedCount = 256
    /// The longest name of a type, in bytes.
    static let maximumTypeNameLength = 128
    /// The deepest nesting of structures.
    public static let maximumDepth = 8

    private var table: [PropertyClass: [String: PropertySchema]] = [:]

    /// Creates a schema with only the built-ins.
    public init() {
        for property in Self.builtIns { insert(property) }
    }

    /// Creates a schema with the built-ins and `properties`. A property with the class and name of a built-in replaces
    /// it.
    ///
    /// Throws `valueInvalid` for an invalid or repeated name, limits that no value satisfies, or a `ProReadonly` twin
    /// with another type than its action; `payloadTooLarge` for more than `maximumValueCount` values, or for an enum of
    /// more than `maximumAllowedCount`. A missing twin is added.
    public init(_ properties: [PropertySchema]) throws(IoTError) {
        self.init()
        var seen: Set<String> = []
        var count = 0
        for property in properties {
            let label = "\(property.propertyClass.rawValue).\(property.name)"
            guard property.propertyClass != .user else {
                throw IoTError(.valueInvalid, "\(label): ProUser belongs to users; a schema cannot declare it")
            }
            try Self.checkName(property.name, of: label)
            guard seen.insert(label).inserted else { throw IoTError(.valueInvalid, "\(label) is declared twice") }
            try property.value.checkConsistency(at: label, depth: 0, count: &count)
            insert(property)
        }
        try completeTwins(declared: seen)
    }

    /// All properties, sorted by class and name.
    public var properties: [PropertySchema] {
        table.keys.sorted().flatMap { propertyClass in
            (table[propertyClass] ?? [:]).values.sorted { $0.name < $1.name }
        }
    }

    public func properties(of propertyClass: PropertyClass) -> [PropertySchema] {
        (table[propertyClass] ?? [:]).values.sorted { $0.name < $1.name }
    }

    public subscript(propertyClass: PropertyClass, name: String) -> PropertySchema? {
        table[propertyClass]?[name]
    }

    private mutating func insert(_ property: PropertySchema) {
        table[property.propertyClass, default: [:]][property.name] = property
    }

    private mutating func completeTwins(declared: Set<String>) throws(IoTError) {
        for action in properties(of: .action) {
            if let twin = self[.readonly, action.name] {
                if twin.value.type.isSameType(as: action.value.type) { continue }
                // A redeclared built-in action replaces the built-in twin.
                guard !declared.contains("ProReadonly.\(action.name)") else {
                    throw IoTError(
                        .valueInvalid,
                        "ProReadonly.\(action.name) is \(twin.value.type.name); it must be \(action.value.type.name)"
                            + " like its action Action.\(action.name)")
                }
            }
            insert(.readonly(action.name, action.value, action.description))
        }
    }

    static func checkName(_ name: String, of label: String) throws(IoTError) {
        if let fault = PropertyName.fault(in: name) {
            throw IoTError(.valueInvalid, "\(label.excerpt(512)): the name \(fault)")
        }
    }
}

extension ValueSchema {
    /// Checks names, nesting, limits and defaults, so that at least one value is valid.
    func checkConsistency(at path: String, depth: Int, count: inout Int) throws(IoTError) {
        count += 1
        guard count <= ThingSchema.maximumValueCount else {
            throw IoTError(.payloadTooLarge, "the schema describes more than \(ThingSchema.maximumValueCount) values")
        }
        guard depth <= ThingSchema.maximumDepth else {
            throw IoTError(.valueInvalid, "\(path): structures nest more than \(ThingSchema.maximumDepth) deep")
        }
        if !type.isNumber, minimum != nil || maximum != nil {
            throw IoTError(.valueInvalid, "\(path): min and max are for numbers, not for \(type.name)")
        }
        if case .structure(let name, let fields) = type {
            guard !fields.isEmpty else {
                throw IoTError(.valueInvalid, "\(path): the structure \(name) has no members")
            }
            guard allowed.isEmpty else { throw IoTError(.valueInvalid, "\(path): enum is not for structures") }
            var names: Set<String> = []
            for field in fields {
                try ThingSchema.checkName(field.name, of: "\(path).\(field.name)")
                guard names.insert(field.name).inserted else {
                    throw IoTError(.valueInvalid, "\(path).\(field.name) is declared twice")
                }
                try field.value.checkConsistency(at: "\(path).\(field.name)", depth: depth + 1, count: &count)
            }
        }
        guard allowed.count <= ThingSchema.maximumAllowedCount else {
            throw IoTError(
                .payloadTooLarge,
                "\(path): enum has \(allowed.count) values; at most"
                    + " \(ThingSchema.maximumAllowedCount) are allowed")
        }
        guard Self.refusals.contains(refusal) else {
            throw IoTError(.valueInvalid, "\(path): \(refusal.rawValue) is not an error for wrong values")
        }
        // A wrong schema is not a wrong parameter.
        var checked = self
        checked.refusal = .valueInvalid
        // Validates each value without the list: searching the list for each would take time quadratic in its length.
        var ofType = checked
        ofType.allowed = []
        for value in allowed { _ = try ofType.validate(value, at: "\(path) enum") }
        _ = try checked.validate(defaultValue, at: "\(path) default")
    }
}
