public import IoTCore

extension ValueSchema {
    /// Returns the value in its normal form (`3.0` becomes `3` for an integer type).
    ///
    /// Throws `valueInvalid`, or the leaf's own `refusal`, with the full path of the invalid leaf.
    public func validate(_ value: JSONValue, at path: String) throws(IoTError) -> JSONValue {
        switch type {
        case .int32: return try validateInteger(value, Int64(Int32.min)...Int64(Int32.max), at: path)
        case .uint32: return try validateInteger(value, 0...Int64(UInt32.max), at: path)
        case .float32: return try validateFloat(value, limit: Double(Float.greatestFiniteMagnitude), at: path)
        case .float64: return try validateFloat(value, limit: .greatestFiniteMagnitude, at: path)
        case .string(let length): return try validateString(value, maximumBytes: length, at: path)
        case .structure(let name, let fields):
            return try Self.validateStructure(value, name: name, fields: fields, at: path)
        }
    }

    private func validateInteger(
        _ value: JSONValue, _ range: ClosedRange<Int64>, at path: String
    ) throws(IoTError) -> JSONValue {
        guard let number = value.integerValue, range.contains(number) else { throw mismatch(value, at: path) }
        try checkLimits(.integer(number), number: Double(number), original: value, at: path)
        return .integer(number)
    }

    private func validateFloat(_ value: JSONValue, limit: Double, at path: String) throws(IoTError) -> JSONValue {
        guard let number = value.doubleValue, number.isFinite, abs(number) <= limit else {
            throw mismatch(value, at: path)
        }
        try checkLimits(value, number: number, original: value, at: path)
        return value
    }

    private func validateString(
        _ value: JSONValue, maximumBytes: Int, at path: String
    ) throws(IoTError) -> JSONValue {
        guard let text = value.stringValue else { throw mismatch(value, at: path) }
        guard text.utf8.count <= maximumBytes else {
            throw IoTError(
                .valueInvalid, "\(path) has \(text.utf8.count) bytes; \(type.name) takes at most \(maximumBytes)")
        }
        guard allowed.isEmpty || allowed.contains(value) else { throw mismatch(value, at: path) }
        return value
    }

    private func checkLimits(
        _ value: JSONValue, number: Double, original: JSONValue, at path: String
    ) throws(IoTError) {
        guard number >= minimum ?? number, number <= maximum ?? number else { throw mismatch(original, at: path) }
        guard allowed.isEmpty || allowed.contains(where: { $0.doubleValue == number }) else {
            throw mismatch(original, at: path)
        }
    }

    private static func validateStructure(
        _ value: JSONValue, name: String, fields: [ValueType.Field], at path: String
    ) throws(IoTError) -> JSONValue {
        guard let members = value.objectValue else {
            let names = fields.map(\.name).joined(separator: ", ")
            throw IoTError(
                .valueInvalid, "\(path) must be an object with the members \(names), not \(value.excerpt)")
        }
        let known = Set(fields.map(\.name))
        if let unknown = members.keys.filter({ !known.contains($0) }).min() {
            let names = fields.map(\.name).joined(separator: ", ")
            throw IoTError(
                .valueInvalid, "\(path).\(unknown.excerpt(64)) is not a member of \(name); its members are \(names)")
        }
        var checked: [String: JSONValue] = [:]
        for field in fields {
            guard let member = members[field.name] else {
                if field.isOptional { continue }
                throw IoTError(
                    .valueInvalid,
                    "\(path).\(field.name) is missing; write the whole structure, or one member at its own path")
            }
            checked[field.name] = try field.value.validate(member, at: "\(path).\(field.name)")
        }
        return .object(checked)
    }

    private func mismatch(_ value: JSONValue, at path: String) -> IoTError {
        IoTError(refusal, "\(path) must be \(expectation), not \(value.excerpt)")
    }

    /// The expected value for an error message, like `an integer from 0 to 6 (int32)`.
    var expectation: String {
        if !allowed.isEmpty {
            return "one of " + allowed.map(\.excerpt).joined(separator: ", ") + " (\(type.name))"
        }
        switch type {
        case .int32: return "an integer\(rangeText(Double(Int32.min), Double(Int32.max))) (int32)"
        case .uint32: return "an integer\(rangeText(0, Double(UInt32.max))) (uint32)"
        case .float32, .float64: return "a number\(rangeText(nil, nil)) (\(type.name))"
        case .string(let length): return "a string of at most \(length) bytes (string\(length))"
        case .structure(let name, _): return "an object (\(name))"
        }
    }

    private func rangeText(_ typeMinimum: Double?, _ typeMaximum: Double?) -> String {
        let low = (minimum ?? typeMinimum).map(Self.text)
        let high = (maximum ?? typeMaximum).map(Self.text)
        switch (low, high) {
        case (let low?, let high?): return " from \(low) to \(high)"
        case (let low?, nil): return " of at least \(low)"
        case (nil, let high?): return " of at most \(high)"
        case (nil, nil): return ""
        }
    }

    private static func text(_ number: Double) -> String {
        Int64(exactly: number).map(String.init) ?? number.description
    }
}

extension String {
    /// The start of the text, at most `length` bytes, for an error message. Counts bytes, because one character can be
    /// very long.
    func excerpt(_ length: Int) -> String {
        guard utf8.count > length else { return self }
        var end = utf8.index(startIndex, offsetBy: length - 3)
        // Do not cut inside a scalar.
        while utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return self[..<end] + "..."
    }
}

extension JSONValue {
    /// The start of the value's JSON text, for an error message.
    var excerpt: String { jsonText.excerpt(60) }

    /// The nesting depth of arrays and objects: 0 for a plain value.
    var nestingDepth: Int {
        switch self {
        case .array(let elements): 1 + (elements.map(\.nestingDepth).max() ?? 0)
        case .object(let members): 1 + (members.values.map(\.nestingDepth).max() ?? 0)
        case .null, .bool, .integer, .number, .string: 0
        }
    }
}
