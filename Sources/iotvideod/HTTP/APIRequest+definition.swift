import IoTCore

extension APIRequest {
    /// The query's wanted definitions.
    ///
    /// - Throws: `.invalidRequest` if they are not a list of definitions.
    var definition: String? {
        get throws(IoTError) {
            let wanted = query("definition")
            if let wanted { try Self.check(definition: wanted) }
            return wanted
        }
    }

    static func check(definition: String) throws(IoTError) {
        guard WantedDefinition.list(definition) != nil else {
            throw IoTError(.invalidRequest, "definition " + WantedDefinition.requirement)
        }
    }
}
