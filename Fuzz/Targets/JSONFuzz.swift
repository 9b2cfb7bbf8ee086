@testable import IoTCore

extension FuzzTarget {
    /// What is read is written and read again the same, and holds no text that costs more than its length.
    static let json = FuzzTarget(
        "json",
        cost: ReadingCost { input in
            // Written, too: that compares the names.
            _ = (try? JSONValue(parsing: input))?.jsonText
        }
    ) { input in
        guard let value = try? JSONValue(parsing: input) else { return }
        try require(value.hasSafeTexts, "a text with a long run of combining marks was read")
        try require(value.depth <= JSONParser.defaultMaximumDepth, "deeper than what is read")
        let text = value.jsonText
        let again = try JSONValue(parsing: text)
        try require(again == value, "\(text) became \(again.jsonText)")
        try require(Array(again.jsonText.utf8) == Array(text.utf8), "\(text) became \(again.jsonText)")
        try require(try JSONValue(parsing: value.prettyText) == value, "written for people it says something else")
    }
}

extension JSONValue {
    fileprivate var hasSafeTexts: Bool {
        switch self {
        case .string(let text): text.isStreamSafe
        case .array(let elements): elements.allSatisfy(\.hasSafeTexts)
        case .object(let members): members.allSatisfy { $0.key.isStreamSafe && $0.value.hasSafeTexts }
        default: true
        }
    }

    fileprivate var depth: Int {
        switch self {
        case .array(let elements): 1 + (elements.map(\.depth).max() ?? 0)
        case .object(let members): 1 + (members.values.map(\.depth).max() ?? 0)
        default: 0
        }
    }
}
