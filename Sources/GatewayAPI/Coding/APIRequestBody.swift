/// A JSON request body with known members only. The daemon refuses other members, by name.
public protocol APIRequestBody: Codable, Sendable {
    /// The names of the body's top-level members.
    static var members: [String] { get }
    /// The members that may be null.
    static var nullable: [String] { get }
}

extension APIRequestBody {
    public static var nullable: [String] { [] }
}
