/// The `name=value` list of a `WWW-Authenticate` or `Authorization` header (RFC 9110 §11.2).
package struct AuthenticationParameters: Sendable {
    /// The largest accepted header value, in bytes.
    package static let maximumSize = 2048

    private var values: [String: String] = [:]

    /// Reads the parameters after `scheme`.
    ///
    /// Values may be quoted or not. If a name is repeated, its first value is used.
    ///
    /// - Returns: `nil` for another scheme, or a text over `maximumSize`.
    package init?(_ text: String, scheme: String) {
        guard text.utf8.count <= Self.maximumSize, text.isStreamSafe,
            let parameters = Self.afterScheme(text, scheme)
        else { return nil }
        var rest = Array(parameters.utf8)[...]
        while !rest.isEmpty {
            rest = rest.drop { $0 == 0x20 || $0 == 0x2C || $0 == 0x09 }
            let name = rest.prefix { $0 != UInt8(ascii: "=") }
            rest = rest.dropFirst(name.count + 1)
            let value = Self.takeValue(&rest)
            let key = String(decoding: name, as: UTF8.self).filter { $0 != " " }.lowercased()
            if values[key] == nil { values[key] = String(decoding: value, as: UTF8.self) }
        }
    }

    package subscript(_ name: String) -> String? { values[name] }

    /// The text after the scheme and its space; `nil` for another scheme.
    package static func afterScheme(_ text: String, _ scheme: String) -> Substring? {
        let start = text.utf8.prefix(scheme.utf8.count)
        guard Substring(start).lowercased() == scheme.lowercased() else { return nil }
        let rest = text.utf8.dropFirst(scheme.utf8.count)
        guard rest.first == 0x20 else { return nil }
        return Substring(rest.dropFirst())
    }

    /// The text in quotes, with quotes and backslashes escaped and without control characters.
    package static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars where scalar.value >= 0x20 {
            if scalar == "\"" || scalar == "\\" { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
        return result + "\""
    }

    private static func takeValue(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
        guard rest.first == UInt8(ascii: "\"") else {
            let value = rest.prefix { $0 != 0x2C }
            rest = rest.dropFirst(value.count)
            return Array(value)
        }
        rest.removeFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            value.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
        }
        return value
    }
}
