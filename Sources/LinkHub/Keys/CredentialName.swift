import IoTCore

/// The name that somebody gives a token or a media key, to know it in a list.
enum CredentialName {
    /// In Unicode scalars.
    static let longest = 64

    /// - Throws: 25001 for one that is empty, too long, or holds a control character: C0, DEL and C1 have no place in a
    ///   table on a terminal.
    static func check(_ name: String) throws(IoTError) -> String {
        let scalars = name.unicodeScalars
        guard (1...longest).contains(scalars.count),
            scalars.allSatisfy({ $0.properties.generalCategory != .control })
        else {
            throw IoTError(
                .invalidRequest, "'name' must be 1 to \(longest) characters, none of them a control character")
        }
        return name
    }

    /// The same of one that may be absent.
    static func check(_ name: String?) throws(IoTError) -> String? {
        try name.map { name throws(IoTError) in try check(name) }
    }
}
