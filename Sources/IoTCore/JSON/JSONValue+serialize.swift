extension JSONValue {
    /// Compact JSON text in UTF-8. Names are in code-point order, so that equal values give equal text.
    public var jsonBytes: [UInt8] {
        var writer = JSONWriter()
        writer.write(self)
        return writer.bytes
    }

    /// `jsonBytes` as text.
    public var jsonText: String { String(decoding: jsonBytes, as: UTF8.self) }

    /// JSON text for people: two spaces per level, names in order.
    public var prettyText: String {
        var writer = JSONWriter(indentation: 2)
        writer.write(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
