import IoTCore

extension KeyedDecodingContainer {
    /// Wanted definitions: a list of words, or one text with the words separated by commas.
    ///
    /// - Returns: As `WantedDefinition.list` reads them; `nil` if absent.
    func decodeDefinitionsIfPresent(forKey key: Key) throws -> String? {
        guard let words = try? decodeIfPresent([String].self, forKey: key) else {
            return try decodeIfPresent(String.self, forKey: key)
        }
        guard !words.contains(where: { $0.contains(",") }) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "a word of the list contains a comma")
        }
        return words.joined(separator: ",")
    }
}
