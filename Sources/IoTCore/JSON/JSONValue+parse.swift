extension JSONValue {
    /// Reads one JSON text (RFC 8259): any value at the top, duplicate names take the last, depth at most 128.
    public init(parsing text: String) throws(JSONParser.Failure) {
        try self.init(parsing: Array(text.utf8))
    }

    /// - Parameter maximumDepth: of objects and arrays within each other.
    public init(
        parsing bytes: [UInt8], maximumDepth: Int = JSONParser.defaultMaximumDepth
    ) throws(JSONParser.Failure) {
        var parser = JSONParser(bytes: bytes, maximumDepth: maximumDepth)
        self = try parser.parse()
    }
}
