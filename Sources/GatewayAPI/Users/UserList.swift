public import IoTCore

/// `GET /v1/users`
public struct UserList: Codable, Hashable, Sendable {
    public var users: [UserDescription]
    /// The value of `after` for the next page; `nil` at the end of the list.
    public var next: String?

    public init(users: [UserDescription], next: String? = nil) {
        self.users = users
        self.next = next
    }

    public init(_ page: Page<UserDescription>) {
        self.init(users: page.elements, next: page.next)
    }
}
