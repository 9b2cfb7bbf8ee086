/// A request's JSON body whose members are all known: the daemon refuses any other, by name.
public protocol APIRequestBody: Codable, Sendable {
    /// The names that the body may have at its top level.
    static var members: [String] { get }
    /// The one member that may be null, if there is one.
    static var nullable: String? { get }
}

extension APIRequestBody {
    public static var nullable: String? { nil }
}
