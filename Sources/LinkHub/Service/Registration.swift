import IoTLink

/// Which session of a principal is its newest, and which came before.
///
/// It is stored: a session that was taken over must not come back over a newer one because the hub was restarted in
/// between and has forgotten which of the two was first.
struct Registration: Sendable, Hashable {
    /// So many earlier sessions are remembered.
    static let remembered = 32

    private(set) var session: String
    private(set) var superseded: [String]

    init(session: String, superseded: [String] = []) {
        self.session = session
        self.superseded = superseded
    }

    /// - Returns: False if this is the newest already.
    mutating func begin(_ new: String) -> Bool {
        guard new != session else { return false }
        superseded.append(session)
        if superseded.count > Self.remembered { superseded.removeFirst() }
        session = new
        return true
    }
}
