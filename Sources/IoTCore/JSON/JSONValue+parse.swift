extension JSONValue {
    /// Reads one JSON text (RFC 8259): any value at the top, duplicate names take the last, depth at most 128.
    public init(parsing text: String) throws(JSONParser.Failure) {
        try self.init(parsing: Array(text.utf8))
    }

    public init(parsing bytes: [UInt8]) throws(JSONParser.Failure) {
        var parser = JSONParser(bytes: bytes)
        self = try parser.parse()
    }
}
