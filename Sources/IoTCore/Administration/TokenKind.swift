/// What a token gives access to.
public enum TokenKind: String, Codable, Hashable, Sendable, CaseIterable {
    /// A session with the hub.
    case link
    /// This HTTP interface, as `Authorization: Bearer`.
    case api
    /// One exchange for a link token.
    case enrolment
}
