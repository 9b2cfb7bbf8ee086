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
    /// What the batch at hand has changed, as it was before.
    private var before: [Principal: Session?] = [:]

    var isEmpty: Bool { sessions.isEmpty }

    subscript(principal: Principal) -> Session? { sessions[principal] }

    mutating func keep() {
        if !before.isEmpty { before.removeAll(keepingCapacity: true) }
    }

    /// Undoes what was changed since `keep()`. What was heard meanwhile of sessions that stayed the same was heard.
    mutating func takeBack() {
        for (principal, session) in before { sessions[principal] = session }
        keep()
    }

    private mutating func change(_ principal: Principal, _ session: Session?) {
        if before[principal] == nil { before.updateValue(sessions[principal], forKey: principal) }
        sessions[principal] = session
    }

    /// Makes this the principal's session.
    /// - Returns: The session that it takes over from; `nil` for none, or for the same one again.
    mutating func begin(
        _ address: LinkAddress, silentUntil: NIODeadline, readsBatches: Bool
    ) -> LinkAddress? {
        let old = sessions[address.principal]?.address
        change(
            address.principal, Session(address: address, silentUntil: silentUntil, readsBatches: readsBatches))
        return old == address ? nil : old
    }

    mutating func heard(_ address: LinkAddress, silentUntil: NIODeadline) {
        sessions[address.principal]?.silentUntil = silentUntil
    }

    /// The session's client says on which of its connections it is.
    mutating func noteConnection(_ connection: Int64?, of principal: Principal) {
        guard let connection, var session = sessions[principal], connection > session.connection ?? .min else { return }
        session.connection = connection
        change(principal, session)
    }

    func readsBatches(_ address: LinkAddress) -> Bool {
        guard let session = sessions[address.principal] else { return false }
        return session.address == address && session.readsBatches
    }

    mutating func loggedIn(_ principal: Principal) {
        guard var session = sessions[principal], !session.hasLoggedIn else { return }
        session.hasLoggedIn = true
        change(principal, session)
    }

    mutating func end(_ principal: Principal) {
        if sessions[principal] != nil { change(principal, nil) }
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
