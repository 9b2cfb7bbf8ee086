import IoTLink

/// A principal's newest session, and the earlier ones.
///
/// It is stored, because otherwise an earlier session could take over again from a newer one after a restart of the
/// hub.
struct Registration: Sendable, Hashable {
    /// The maximum number of earlier sessions that are remembered.
    static let remembered = 32

    private(set) var session: String
    private(set) var superseded: [String]

    init(session: String, superseded: [String] = []) {
        self.session = session
        self.superseded = superseded
    }

    /// - Returns: False if this is already the newest session.
    mutating func begin(_ new: String) -> Bool {
        guard new != session else { return false }
        superseded.append(session)
        if superseded.count > Self.remembered { superseded.removeFirst() }
        session = new
        return true
    }
}
