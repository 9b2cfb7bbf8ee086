/// A camera's user and password. Neither is written to logs or errors.
public struct ONVIFLogin: Sendable, Hashable {
    public var username: String
    public var password: String

    public init(username: String, password: String) {
        self.username = username
        self.password = password
    }
}

extension ONVIFLogin: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "a login" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
