/// The channel whose lines of the log somebody wants.
package enum LogChannel: Sendable, Hashable {
    /// The channel's number, which its lines have at the viewer's gateway.
    case number(Int)
    /// The id of a channel in use; or of a call, which its lines have at the camera's box. The gateway has no channel for
    /// the call of a browser, and so no number.
    case id(String)

    /// - Returns: `nil` for text that is neither.
    package init?(_ text: String) {
        if let number = Int32(text), number >= 0 {
            self = .number(Int(number))
        } else if (1...64).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) {
            self = .id(text)
        } else {
            return nil
        }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch UnicodeScalar(byte) {
        case "0"..."9", "A"..."Z", "a"..."z", "-", "_": true
        default: false
        }
    }
}
