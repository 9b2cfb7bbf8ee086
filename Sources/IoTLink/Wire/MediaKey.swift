import IoTCore

/// A media key: an id, which is not secret, then 128 random bits. Its 32 characters need no encoding in a URL. It is
/// never printed.
package struct MediaKey: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Lower-case hex digits at the start.
    private static let idLength = 10
    package static let length = 32

    package let text: String

    /// `nil` for text of another form.
    package init?(_ text: String) {
        guard text.utf8.count == Self.length, Self.isID(text.prefix(Self.idLength)),
            Base64URL.decode(text.dropFirst(Self.idLength)) != nil
        else { return nil }
        self.text = text
    }

    private init(id: String, secret: [UInt8]) {
        text = id + Base64URL.encode(secret)
    }

    package static func random() -> MediaKey {
        var generator = SystemRandomNumberGenerator()
        let secret = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return MediaKey(id: Hex.random(byteCount: idLength / 2), secret: secret)
    }

    /// Whether the text has the form of a key's id.
    package static func isID(_ text: some StringProtocol) -> Bool {
        text.utf8.count == idLength && Hex.decode(text).map(Hex.encode) == String(text)
    }

    package var id: String { String(text.prefix(Self.idLength)) }

    package var description: String { "media key" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
