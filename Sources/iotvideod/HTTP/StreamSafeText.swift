import IoTCore

/// Text that can be compared in linear time. To compare a run of combining marks, it is sorted, in time quadratic in
/// its length.
enum StreamSafeText {
    /// Unicode's limit for runs of combining marks (UAX #15, Stream-Safe Text Format).
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

    /// Checks every name and string of the value.
    static func isSafe(_ value: JSONValue) -> Bool {
        switch value {
        case .string(let text): isSafe(text)
        case .array(let elements): elements.allSatisfy(isSafe)
        case .object(let members): members.allSatisfy { isSafe($0.key) && isSafe($0.value) }
        default: true
        }
    }

    static func refusal(_ name: String) -> IoTError {
        IoTError(.invalidRequest, "\(name) contains more than \(longestRun) combining marks in a row")
    }
}
