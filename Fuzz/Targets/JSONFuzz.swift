@testable import IoTCore

extension FuzzTarget {
    /// A parsed text, written and parsed again, is the same, and contains no text with a non-linear cost.
    static let json = FuzzTarget(
        "json",
        cost: ReadingCost { input in
            // Writing is included, because it compares the names.
            _ = (try? JSONValue(parsing: input))?.jsonText
        }
    ) { input in
        guard let value = try? JSONValue(parsing: input) else { return }
        try require(value.hasSafeTexts, "a text with a long run of combining marks was read")
        try require(value.depth <= JSONParser.defaultMaximumDepth, "deeper than the parser's limit")
        let text = value.jsonText
        let again = try JSONValue(parsing: text)
        try require(again == value, "\(text) became \(again.jsonText)")
        try require(Array(again.jsonText.utf8) == Array(text.utf8), "\(text) became \(again.jsonText)")
        try require(try JSONValue(parsing: value.prettyText) == value, "the pretty text has another value")
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
