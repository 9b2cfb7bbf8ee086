/// The connections of calls that were made over a local network, by the calls' sessions.
package struct LANCalls: Sendable {
    private var connections: [String: LANConnection] = [:]

    package init() {}

    package subscript(session: String) -> LANConnection? {
        get { connections[session] }
        set { connections[session] = newValue }
    }

    package func count(over connection: LANConnection) -> Int {
        connections.values.count { $0 === connection }
    }

    /// - Returns: the sessions of the calls that were removed.
    package mutating func removeAll(over connection: LANConnection) -> [String] {
        let sessions = connections.filter { $0.value === connection }.map(\.key)
        for session in sessions { connections[session] = nil }
        return sessions
    }
}
