import IoTCore

/// Text whose comparison costs no more than its length: runs of combining marks are sorted to be compared, at a cost of
/// the square of their length.
enum StreamSafeText {
    /// Unicode's own bound for runs of combining marks (UAX #15, Stream-Safe Text Format).
    static let longestRun = 30

    static func isSafe(_ text: String) -> Bool {
        guard text.utf8.contains(where: { $0 >= 0x80 }) else { return true }
        var run = 0
        for scalar in text.unicodeScalars {
            run = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : run + 1
            if run > longestRun { return false }
        }
        return true
    }

    /// Every name and string of it.
    static func isSafe(_ value: JSONValue) -> Bool {
        switch value {
        case .string(let text): isSafe(text)
        case .array(let elements): elements.allSatisfy(isSafe)
        case .object(let members): members.allSatisfy { isSafe($0.key) && isSafe($0.value) }
        default: true
        }
    }

    static func refusal(_ name: String) -> IoTError {
        IoTError(.invalidRequest, "\(name) holds more than \(longestRun) combining marks in a row")
    }
}
