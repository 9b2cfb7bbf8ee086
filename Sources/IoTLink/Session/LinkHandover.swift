import NIOCore

/// A session on its way from one connection to the next, as with a new token: the new one is made before the old one
/// ends.
///
/// Both read the same topic, so while both are there everything comes twice, in the same order. The answer to a
/// heartbeat, the mark, tells how the two fit together: up to the mark the old connection counts, behind it the new
/// one. So nothing is lost and nothing comes twice.
struct LinkHandover: Sendable {
    enum Stage {
        case connecting
        case subscribing
        /// The mark was asked for.
        case marking(id: String, sentAt: NIODeadline)
    }

    /// The new connection's.
    let attempt: Int
    /// When it must be done.
    let until: NIODeadline
    var stage = Stage.connecting
    /// Of the token with which the new connection was made.
    var claims: TokenClaims?
    /// The old connection brought the mark: what follows on it comes on the new one, too.
    var oldHasMark = false
    var newHasMark = false
    /// What came on the new connection behind the mark, while the old one has not brought it.
    var received: [Envelope] = []

    /// So many may wait in `received`; one more ends the attempt.
    static let maximumReceived = 1_024
}

/// The old connection of a session that has moved: it sends what waits and says goodbye.
struct RetiringConnection: Sendable {
    let attempt: Int
    let until: NIODeadline
}
