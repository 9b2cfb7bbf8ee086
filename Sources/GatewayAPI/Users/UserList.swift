public import IoTCore

/// `GET /v1/users`
public struct UserList: Codable, Hashable, Sendable {
    public var users: [UserDescription]
    /// What `after` must say for the next page; `nil` at the list's end.
    public var next: String?

    public init(users: [UserDescription], next: String? = nil) {
        self.users = users
        self.next = next
    }

    public init(_ page: Page<UserDescription>) {
        self.init(users: page.elements, next: page.next)
    }
}
