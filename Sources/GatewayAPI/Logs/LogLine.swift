/// One line of the daemon's log.
public struct LogLine: Codable, Hashable, Sendable {
    /// ms since 1970.
    public var t: Int64
    /// One of `levels`.
    public var level: String
    /// The part of the daemon that wrote the line.
    public var label: String
    public var message: String
    /// The line's facts, for example `channel.number`.
    public var facts: [String: String]

    /// From the least important.
    public static let levels = ["trace", "debug", "info", "notice", "warning", "error", "critical"]

    public init(t: Int64, level: String, label: String, message: String, facts: [String: String]) {
        self.t = t
        self.level = level
        self.label = label
        self.message = message
        self.facts = facts
    }

    /// Everything but the time, in one line: control characters are written as `\u{a}`.
    public var text: String {
        let facts = facts.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        var text = ""
        for scalar in "\(level) \(label): \(message)\(facts)".unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: text += scalar.escaped(asASCII: true)
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
