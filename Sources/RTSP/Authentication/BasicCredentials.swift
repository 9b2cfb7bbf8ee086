import IoTCore

/// A user name and a password in the form of `Basic` (RFC 7617).
package struct BasicCredentials: Sendable, Hashable {
    package var username: String
    package var password: String

    package init(username: String, password: String) {
        self.username = username
        self.password = password
    }

    /// Reads a value of `Authorization`. `nil` for another scheme, or a malformed text.
    package init?(_ text: String) {
        guard text.utf8.count <= AuthenticationParameters.maximumSize,
            let encoded = AuthenticationParameters.afterScheme(text, "Basic"),
            let bytes = Base64.decode(HeaderParameters.trimmed(encoded)),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let username = String(validating: bytes[..<colon], as: UTF8.self),
            let password = String(validating: bytes[(colon + 1)...], as: UTF8.self),
            username.isStreamSafe, password.isStreamSafe
        else { return nil }
        self.init(username: username, password: password)
    }

    /// The value of `Authorization`.
    package var text: String { "Basic " + Base64.encode(Array("\(username):\(password)".utf8)) }

    /// The value of `WWW-Authenticate`.
    package static func challenge(realm: String) -> String {
        "Basic realm=\(AuthenticationParameters.quoted(realm))"
    }

    static func isChallenge(_ text: String) -> Bool {
        text.utf8.count == 5
            ? text.lowercased() == "basic" : AuthenticationParameters.afterScheme(text, "Basic") != nil
    }
}

extension BasicCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "credentials" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
