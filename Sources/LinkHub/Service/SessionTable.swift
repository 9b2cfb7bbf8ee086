import IoTLink
import NIOCore

/// Who is online, and which sessions are over for good.
struct SessionTable: Sendable {
    struct Session: Sendable {
        var address: LinkAddress
        /// Silence until then ends the session.
        var silentUntil: NIODeadline
        /// A device that has brought its model; earlier it is told nothing of it.
        var hasLoggedIn = false
    }

    enum Standing {
        case current
        /// A newer registration took over: whatever it says is ignored.
        case superseded
        case unknown
    }

    /// So many sessions of one principal are remembered as superseded.
    static let rememberedSessions = 32

    private(set) var sessions: [Principal: Session] = [:]
    private var superseded: [Principal: [String]] = [:]

    var isEmpty: Bool { sessions.isEmpty }

    subscript(principal: Principal) -> Session? { sessions[principal] }

    func standing(_ address: LinkAddress) -> Standing {
        if sessions[address.principal]?.address == address { return .current }
        return superseded[address.principal]?.contains(address.session) == true ? .superseded : .unknown
    }

    /// Makes this the principal's session.
    /// - Returns: The session that it takes over from; `nil` for none, or for the same one again.
    mutating func begin(_ address: LinkAddress, silentUntil: NIODeadline) -> LinkAddress? {
        let old = sessions[address.principal]?.address
        sessions[address.principal] = Session(address: address, silentUntil: silentUntil)
        guard let old, old != address else { return nil }
        superseded[address.principal, default: []].append(old.session)
        if superseded[address.principal, default: []].count > Self.rememberedSessions {
            superseded[address.principal]?.removeFirst()
        }
        return old
    }

    mutating func heard(_ address: LinkAddress, silentUntil: NIODeadline) {
        sessions[address.principal]?.silentUntil = silentUntil
    }

    mutating func loggedIn(_ principal: Principal) {
        sessions[principal]?.hasLoggedIn = true
    }

    mutating func end(_ principal: Principal) {
        sessions[principal] = nil
    }

    mutating func forget(_ principal: Principal) {
        sessions[principal] = nil
        superseded[principal] = nil
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
