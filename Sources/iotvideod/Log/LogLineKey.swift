import Logging

/// What two log lines must have in common to be repetitions: everything but numbers. Numbers that identify something
/// (`….number`, `….id`) count, too.
struct LogLineKey: Hashable, Sendable {
    private let label: String
    private let level: Logger.Level
    private let message: String
    private let facts: [String: String]

    init(label: String, level: Logger.Level, message: String, metadata: [Logger.Metadata]) {
        self.label = label
        self.level = level
        self.message = message
        var facts: [String: String] = [:]
        for (name, value) in metadata.joined() {
            let text = "\(value)"
            let identifies = name.hasSuffix(".number") || name.hasSuffix(".id")
            if identifies || !Self.isNumber(text) { facts[name] = text }
        }
        self.facts = facts
    }

    private static func isNumber(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E || $0 == 0x2D }
    }
}
