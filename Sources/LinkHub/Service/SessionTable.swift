import IoTLink
import NIOCore

/// Who is online.
struct SessionTable: Sendable {
    struct Session: Sendable {
        var address: LinkAddress
        /// Silence until then ends the session.
        var silentUntil: NIODeadline
        /// A device that has brought its model; earlier it is told nothing of it.
        var hasLoggedIn = false
        /// The newest of the session's connections that was heard of, where its client counts them.
        var connection: Int64?
        /// It takes several envelopes in one message.
        var readsBatches = false
    }

    private(set) var sessions: [Principal: Session] = [:]
    var isEmpty: Bool { sessions.isEmpty }

    subscript(principal: Principal) -> Session? { sessions[principal] }

    /// Makes this the principal's session.
    /// - Returns: The session that it takes over from; `nil` for none, or for the same one again.
    mutating func begin(
        _ address: LinkAddress, silentUntil: NIODeadline, readsBatches: Bool
    ) -> LinkAddress? {
        let old = sessions[address.principal]?.address
        sessions[address.principal] = Session(
            address: address, silentUntil: silentUntil, readsBatches: readsBatches)
        return old == address ? nil : old
    }

    mutating func heard(_ address: LinkAddress, silentUntil: NIODeadline) {
        sessions[address.principal]?.silentUntil = silentUntil
    }

    /// The session's client says on which of its connections it is.
    mutating func noteConnection(_ connection: Int64?, of principal: Principal) {
        guard let connection, connection > sessions[principal]?.connection ?? Int64.min else { return }
        sessions[principal]?.connection = connection
    }

    func readsBatches(_ address: LinkAddress) -> Bool {
        guard let session = sessions[address.principal] else { return false }
        return session.address == address && session.readsBatches
    }

    mutating func loggedIn(_ principal: Principal) {
        sessions[principal]?.hasLoggedIn = true
    }

    mutating func end(_ principal: Principal) {
        sessions[principal] = nil
    }

    func silent(at time: NIODeadline) -> [Principal] {
        sessions.filter { $0.value.silentUntil <= time }.map(\.key)
    }

    /// After an outage nobody's farewell can be relied on: who is not heard again by then is gone.
    mutating func shorten(to silentUntil: NIODeadline) {
        for principal in sessions.keys {
            if let old = sessions[principal]?.silentUntil {
                sessions[principal]?.silentUntil = min(old, silentUntil)
            }
        }
    }
}
