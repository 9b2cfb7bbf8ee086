extension JSONValue {
    /// Reads one JSON text (RFC 8259): any value at the top level, at most 128 levels deep. Of duplicate names, the
    /// last one wins.
    public init(parsing text: String) throws(JSONParser.Failure) {
        try self.init(parsing: Array(text.utf8))
    }

    /// - Parameter maximumDepth: the largest number of nested objects and arrays.
    public init(
        parsing bytes: [UInt8], maximumDepth: Int = JSONParser.defaultMaximumDepth
    ) throws(JSONParser.Failure) {
        var parser = JSONParser(bytes: bytes, maximumDepth: maximumDepth)
        self = try parser.parse()
    }
}
