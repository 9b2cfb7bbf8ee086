/// What a token gives access to.
public enum TokenKind: String, Codable, Hashable, Sendable, CaseIterable {
    /// A session with the hub.
    case link
    /// The HTTP API, as `Authorization: Bearer`.
    case api
    /// One exchange for link tokens.
    case enrolment
}
