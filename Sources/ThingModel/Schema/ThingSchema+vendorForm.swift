public import IoTCore

extension ThingSchema {
    /// Reads the vendor's form `{"TypeDefs":[{name,desc,type:[…]}],"DataDefs":[{name,desc,type,FC}]}`.
    ///
    /// - `FC` is the property's class, as in paths: `ProConst`, `ProReadonly`, `ProWritable`, `Action` or
    ///   `Event`.
    /// - `type` is `int32`, `uint32`, `float32`, `float64`, `stringN` (at most N bytes of UTF-8), the name of one of
    ///   the `TypeDefs`, or an inline list of members.
    /// - A member is `{name,desc,type}`, with `"optional": true` if a whole structure may lack it. Properties and members may have `min`, `max`, `enum` (a list) and `default`.
    /// - The built-ins may be omitted. Unknown keys are ignored.
    ///
    /// Throws `valueInvalid` with the invalid line.
    public init(vendorForm: JSONValue) throws(IoTError) {
        guard vendorForm.objectValue != nil else {
            throw IoTError(.valueInvalid, "a schema is an object with TypeDefs and DataDefs, not \(vendorForm.excerpt)")
        }
        var reader = try VendorFormReader(typeDefinitions: Self.list(vendorForm, "TypeDefs"))
        var properties: [PropertySchema] = []
        for (index, line) in try Self.list(vendorForm, "DataDefs").enumerated() {
            properties.append(try reader.property(line, label: "DataDefs[\(index)]"))
        }
        try self.init(properties)
    }

    private static func list(_ form: JSONValue, _ key: String) throws(IoTError) -> [JSONValue] {
        guard let value = form[key], value != .null else { return [] }
        guard let list = value.arrayValue else { throw IoTError(.valueInvalid, "\(key) must be a list") }
        return list
    }

    /// The schema in the vendor's form, without properties that equal a built-in, because every device has those.
    public var vendorForm: JSONValue {
        var writer = VendorFormWriter()
        let lines = properties.filter { !Self.builtIns.contains($0) }.map { property in
            var line = writer.members(of: property.value)
            line["name"] = .string(property.name)
            line["desc"] = .string(property.description)
            line["FC"] = .string(property.propertyClass.rawValue)
            return JSONValue.object(line)
        }
        return ["TypeDefs": .array(writer.typeDefinitions), "DataDefs": .array(lines)]
    }
}

/// Resolves the types of a schema in the vendor's form.
private struct VendorFormReader {
    private var definitions: [String: [JSONValue]] = [:]
    private var valueCount = 0
    private var textSize = 0

    init(typeDefinitions: [JSONValue]) throws(IoTError) {
        for (index, definition) in typeDefinitions.enumerated() {
            guard let name = definition["name"]?.stringValue else {
                throw IoTError(.valueInvalid, "TypeDefs[\(index)] has no name")
            }
            guard name.utf8.count <= ThingSchema.maximumTypeNameLength else {
                throw IoTError(
                    .valueInvalid,
                    "TypeDefs[\(index)]: a type's name has at most \(ThingSchema.maximumTypeNameLength) bytes")
            }
            guard ValueType(simpleName: name) == nil, definitions[name] == nil else {
                throw IoTError(.valueInvalid, "TypeDefs[\(index)]: the type '\(name)' exists already")
            }
            guard let members = definition["type"]?.arrayValue else {
                throw IoTError(.valueInvalid, "TypeDefs[\(index)] \(name): its type must be a list of members")
            }
            definitions[name] = members
        }
    }

    mutating func property(_ line: JSONValue, label: String) throws(IoTError) -> PropertySchema {
        guard let name = line["name"]?.stringValue else { throw IoTError(.valueInvalid, "\(label) has no name") }
        let label = "\(label) \(name.excerpt(64))"
        try ThingSchema.checkName(name, of: label)
        guard let text = line["FC"]?.stringValue, let propertyClass = PropertyClass(rawValue: text) else {
            throw IoTError(
                .valueInvalid,
                "\(label): its FC is \(line["FC"]?.excerpt ?? "missing"); it must be ProConst, ProReadonly,"
                    + " ProWritable, Action or Event")
        }
        return PropertySchema(
            propertyClass, name, try value(line, label: label, depth: 0),
            description: line["desc"]?.stringValue ?? "")
    }

    private mutating func value(_ line: JSONValue, label: String, depth: Int) throws(IoTError) -> ValueSchema {
        // Both bounds also stop types that contain themselves, or that grow exponentially when they are expanded.
        valueCount += 1
        guard valueCount <= ThingSchema.maximumValueCount else {
            throw IoTError(.payloadTooLarge, "the schema describes more than \(ThingSchema.maximumValueCount) values")
        }
        guard depth <= ThingSchema.maximumDepth else {
            throw IoTError(
                .valueInvalid,
                "\(label): structures nest more than \(ThingSchema.maximumDepth) deep, or hold themselves")
        }
        guard let type = line["type"] else { throw IoTError(.valueInvalid, "\(label) has no type") }
        try countText(of: line)
        return ValueSchema(
            try resolve(type, structureName: "\(line["name"]?.stringValue ?? "")_t", label: label, depth: depth),
            minimum: try number(line, "min", label: label), maximum: try number(line, "max", label: label),
            allowed: try allowedValues(line, label: label), default: line["default"],
            refusal: try refusal(line, label: label))
    }

    private mutating func countText(of line: JSONValue) throws(IoTError) {
        for key in ["name", "desc"] { textSize += line[key]?.stringValue?.utf8.count ?? 0 }
        for key in ["default", "enum"] { textSize += line[key]?.jsonBytes.count ?? 0 }
        guard textSize <= ThingSchema.maximumTextSize else {
            throw IoTError(
                .payloadTooLarge,
                "the schema's names, descriptions, defaults and enums have more than \(ThingSchema.maximumTextSize) bytes"
                    + " when its structures are expanded")
        }
    }

    private mutating func resolve(
        _ type: JSONValue, structureName: String, label: String, depth: Int
    ) throws(IoTError) -> ValueType {
        if let name = type.stringValue {
            if let simple = ValueType(simpleName: name) { return simple }
            guard name.utf8.count <= ThingSchema.maximumTypeNameLength, let lines = definitions[name] else {
                throw IoTError(
                    .valueInvalid,
                    "\(label): there is no type '\(name.excerpt(64))'; use int32, uint32, float32, float64, stringN or one of"
                        + " TypeDefs")
            }
            return try structure(name, lines, label: label, depth: depth)
        }
        guard let lines = type.arrayValue else {
            throw IoTError(.valueInvalid, "\(label): its type must be a name or a list of members")
        }
        return try structure(structureName, lines, label: label, depth: depth)
    }

    private mutating func structure(
        _ structureName: String, _ lines: [JSONValue], label: String, depth: Int
    ) throws(IoTError) -> ValueType {
        var fields: [ValueType.Field] = []
        for line in lines {
            guard let name = line["name"]?.stringValue else {
                throw IoTError(.valueInvalid, "\(label): a member has no name")
            }
            try ThingSchema.checkName(name, of: "\(label): a member")
            fields.append(
                ValueType.Field(
                    name, try value(line, label: "\(label).\(name)", depth: depth + 1),
                    description: line["desc"]?.stringValue ?? "",
                    isOptional: line["optional"] == true))
        }
        return .structure(name: structureName, fields: fields)
    }

    private func number(_ line: JSONValue, _ key: String, label: String) throws(IoTError) -> Double? {
        guard let value = line[key], value != .null else { return nil }
        guard let number = value.doubleValue else { throw IoTError(.valueInvalid, "\(label): \(key) must be a number") }
        return number
    }

    private func refusal(_ line: JSONValue, label: String) throws(IoTError) -> ErrorCode {
        guard let value = line["error"], value != .null else { return .valueInvalid }
        guard let known = ValueSchema.refusals.first(where: { value.integerValue == Int64($0.rawValue) }) else {
            let numbers = ValueSchema.refusals.map { "\($0.rawValue)" }.joined(separator: " or ")
            throw IoTError(.valueInvalid, "\(label): error must be \(numbers)")
        }
        return known
    }

    private func allowedValues(_ line: JSONValue, label: String) throws(IoTError) -> [JSONValue] {
        guard let value = line["enum"], value != .null else { return [] }
        guard let list = value.arrayValue, !list.isEmpty else {
            throw IoTError(.valueInvalid, "\(label): enum must be a list of the allowed values")
        }
        return list
    }
}

/// Writes each structure once in `TypeDefs`. A second structure of the same name with other members is written inline.
private struct VendorFormWriter {
    private var named: [String: ValueType] = [:]
    private(set) var typeDefinitions: [JSONValue] = []

    mutating func members(of value: ValueSchema) -> [String: JSONValue] {
        var members: [String: JSONValue] = ["type": type(value.type)]
        members["min"] = value.minimum.map(Self.number)
        members["max"] = value.maximum.map(Self.number)
        members["enum"] = value.allowed.isEmpty ? nil : .array(value.allowed)
        members["default"] = value.explicitDefault
        members["error"] = value.refusal == .valueInvalid ? nil : .integer(Int64(value.refusal.rawValue))
        return members
    }

    private mutating func type(_ type: ValueType) -> JSONValue {
        guard case .structure(let name, let fields) = type else { return .string(type.name) }
        if named[name] == type { return .string(name) }
        let lines = fields.map { field in
            var line = members(of: field.value)
            line["name"] = .string(field.name)
            line["desc"] = .string(field.description)
            line["optional"] = field.isOptional ? true : nil
            return JSONValue.object(line)
        }
        guard named[name] == nil, ValueType(simpleName: name) == nil else { return .array(lines) }
        named[name] = type
        typeDefinitions.append(["name": .string(name), "desc": "", "type": .array(lines)])
        return .string(name)
    }

    private static func number(_ value: Double) -> JSONValue {
        Int64(exactly: value).map { .integer($0) } ?? .number(value)
    }
}
