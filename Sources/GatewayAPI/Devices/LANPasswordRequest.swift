public import IoTCore

/// `POST /v1/devices/{device}/lan-password`. The passwords are in no description.
public struct LANPasswordRequest: APIRequestBody, Hashable, CustomStringConvertible, CustomReflectable {
    public static let members = ["password", "newPassword"]

    /// The present password; left out where the camera has none.
    public var password: String?
    /// 8 to 64 bytes of UTF-8; left out to check `password` only.
    public var newPassword: String?

    public init(password: String? = nil, newPassword: String? = nil) {
        self.password = password
        self.newPassword = newPassword
    }

    public var description: String { newPassword == nil ? "a check of a password" : "a change of a password" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The password was right, was changed, or there is none. The other outcomes are errors.
public struct LANPasswordResponse: Codable, Hashable, Sendable {
    public var outcome: LANPasswordOutcome

    public init(outcome: LANPasswordOutcome) {
        self.outcome = outcome
    }
}
