import NIOCore

/// The move of a session from one connection to the next, for example for a new token. The new connection is made
/// before the old one ends.
///
/// Both subscribe to the same topic, so that each message arrives on both, in the same order. The answer to a heartbeat
/// is the mark: messages before it are taken from the old connection, messages after it from the new one. So no message
/// is lost or processed twice.
struct LinkHandover: Sendable {
    enum Stage {
        case connecting
        case subscribing
        /// The heartbeat was sent.
        case marking(id: String, sentAt: NIODeadline)
    }

    /// The attempt of the new connection.
    let attempt: Int
    /// The time limit of the handover.
    let until: NIODeadline
    var stage = Stage.connecting
    /// The claims of the new connection's token.
    var claims: TokenClaims?
    /// The mark arrived on the old connection. Later messages on it also arrive on the new one.
    var oldHasMark = false
    /// The mark arrived on the new connection.
    var newHasMark = false
    /// Messages on the new connection after the mark, until the mark arrives on the old one.
    var received: [Envelope] = []

    /// The maximum number of messages in `received`. One more ends the handover.
    static let maximumReceived = 1_024
}

/// The old connection of a session that has moved. It sends its queued messages and disconnects.
struct RetiringConnection: Sendable {
    let attempt: Int
    let until: NIODeadline
}
