/// The rule for the names of properties and of structures' members.
enum PropertyName {
    /// The longest name, in bytes.
    static let maximumLength = 64

    /// The fault of a new name, which is worded to follow "the name"; `nil` for a valid name.
    ///
    /// A name is part of database keys and log lines. Control characters are refused; for example, SQLite ends a text
    /// at NUL.
    static func fault(in name: String) -> String? {
        if name.isEmpty { return "is empty" }
        guard name.utf8.count <= maximumLength else {
            return "has \(name.utf8.count) bytes; at most \(maximumLength) are allowed"
        }
        if name.utf8.contains(UInt8(ascii: ".")) { return "contains a '.'" }
        let hasControl = name.unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: true
            default: false
            }
        }
        return hasControl ? "contains a control character" : nil
    }
}
