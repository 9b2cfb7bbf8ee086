import IoTCore

/// The name of a token or media key, shown to users in lists. It need not be unique.
enum CredentialName {
    /// In Unicode scalars.
    static let longest = 64

    /// - Throws: 25001 for a name that is empty, too long, or contains a control character: C0, DEL and C1 could
    ///   corrupt a table on a terminal.
    static func check(_ name: String) throws(IoTError) -> String {
        guard (1...longest).contains(name.unicodeScalars.count), name.isPrintableOnOneLine else {
            throw IoTError(
                .invalidRequest, "'name' must be 1 to \(longest) characters, none of them a control character")
        }
        return name
    }

    /// Like `check(_:)`, but for an optional name.
    static func check(_ name: String?) throws(IoTError) -> String? {
        try name.map { name throws(IoTError) in try check(name) }
    }
}
