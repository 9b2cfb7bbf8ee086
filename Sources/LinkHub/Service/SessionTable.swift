import IoTLink
import NIOCore

/// The sessions that are online.
struct SessionTable: Sendable {
    struct Session: Sendable {
        var address: LinkAddress
        /// If the session is silent until then, it ends.
        var silentUntil: NIODeadline
        /// Whether a device has sent its model. The hub sends it no values before that.
        var hasLoggedIn = false
        /// The number of the session's newest known connection, if its client counts them.
        var connection: Int64?
        /// Whether the client accepts several envelopes in one message.
        var readsBatches = false
    }

    private(set) var sessions: [Principal: Session] = [:]
    /// The sessions that the current batch has changed, as they were before.
    private var before: [Principal: Session?] = [:]

    var isEmpty: Bool { sessions.isEmpty }

    subscript(principal: Principal) -> Session? { sessions[principal] }

    mutating func keep() {
        if !before.isEmpty { before.removeAll(keepingCapacity: true) }
    }

    /// Undoes the changes since `keep()`. The last-heard times of unchanged sessions stay.
    mutating func takeBack() {
        for (principal, session) in before { sessions[principal] = session }
        keep()
    }

    private mutating func change(_ principal: Principal, _ session: Session?) {
        if before[principal] == nil { before.updateValue(sessions[principal], forKey: principal) }
        sessions[principal] = session
    }

    /// Makes this the principal's session.
    /// - Returns: The session that it replaces; `nil` if there is none, or it is the same one.
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

    /// Records the connection that the session's client uses.
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

    /// Call this after an outage, in which messages that end a session may be lost: a session that is silent until then
    /// ends.
    mutating func shorten(to silentUntil: NIODeadline) {
        for principal in sessions.keys {
            if let old = sessions[principal]?.silentUntil {
                sessions[principal]?.silentUntil = min(old, silentUntil)
            }
        }
    }
}
