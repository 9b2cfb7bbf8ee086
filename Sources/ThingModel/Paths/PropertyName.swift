/// The rule for the names of properties and of structures' members.
enum PropertyName {
    /// The longest name, in bytes.
    static let maximumLength = 64

    /// What is wrong with a new name, to be read after "the name"; `nil` for a good one.
    ///
    /// A name is part of a store's key and of log lines, so it holds no control characters: SQLite ends a text at NUL.
    static func fault(in name: String) -> String? {
        if name.isEmpty { return "is empty" }
        guard name.utf8.count <= maximumLength else {
            return "has \(name.utf8.count) bytes; at most \(maximumLength) are allowed"
        }
        if name.utf8.contains(UInt8(ascii: ".")) { return "holds a '.'" }
        let hasControl = name.unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: true
            default: false
            }
        }
        return hasControl ? "holds a control character" : nil
    }
}
