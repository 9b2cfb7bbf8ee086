public import IoTCore

/// `POST /v1/devices/{device}/lan-password`. `description` contains no password.
public struct LANPasswordRequest: APIRequestBody, Hashable, CustomStringConvertible, CustomReflectable {
    public static let members = ["password", "newPassword"]

    /// The current password; omitted if the camera has none.
    public var password: String?
    /// 8 to 64 characters; omitted to check `password` only.
    public var newPassword: String?

    public init(password: String? = nil, newPassword: String? = nil) {
        self.password = password
        self.newPassword = newPassword
    }

    public var description: String { newPassword == nil ? "a password check" : "a password change" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The password was right or was changed, or the camera has none. The other outcomes are errors.
public struct LANPasswordResponse: Codable, Hashable, Sendable {
    public var outcome: LANPasswordOutcome

    public init(outcome: LANPasswordOutcome) {
        self.outcome = outcome
    }
}
