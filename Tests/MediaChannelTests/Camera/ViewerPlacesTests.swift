import IoTCore
import Testing

@testable import MediaChannel

@Suite struct ViewerPlacesTests {
    private func watch(_ places: inout ViewerPlaces, _ session: String, _ user: String, isOwner: Bool = false) throws {
        try places.add(session: session, user: user, isOwner: isOwner)
        try places.connected(session: session)
    }

    private func isRefused(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return false
        } catch {
            return (error as? IoTError)?.code == .allChannelsBusy
        }
    }

    @Test("Calls that never connect block neither the owner nor other accounts")
    func unconnected() throws {
        var places = ViewerPlaces(maximum: 8)
        for index in 0..<3 { try places.add(session: "a\(index)", user: "u/a", isOwner: false) }
        #expect(isRefused { try places.add(session: "a3", user: "u/a", isOwner: false) })
        for index in 0..<3 { try places.add(session: "b\(index)", user: "u/b", isOwner: false) }
        try watch(&places, "c", "u/c")
        for index in 0..<8 { try watch(&places, "o\(index)", "u/owner", isOwner: true) }
        // A call that ended makes room for another of the same account.
        places.remove(session: "a0")
        #expect(isRefused { try places.add(session: "a3", user: "u/a", isOwner: false) }, "all places are taken")
        places.remove(session: "o0")
        places.remove(session: "o1")
        try places.add(session: "a3", user: "u/a", isOwner: false)
    }

    @Test("The owner gets a place, however many accounts call without connecting")
    func manyAccounts() throws {
        var places = ViewerPlaces(maximum: 2)
        var taken = 0
        for index in 0..<100
        where !isRefused({ try places.add(session: "\(index)", user: "u/\(index)", isOwner: false) }) {
            taken += 1
        }
        #expect(taken == ViewerPlaces.unconnectedByOthers)
        try watch(&places, "o", "u/owner", isOwner: true)
    }

    @Test("An account has half of the places, the owner all of them and two more; no viewer loses its place")
    func connected() throws {
        var places = ViewerPlaces(maximum: 8)
        for index in 0..<4 { try watch(&places, "a\(index)", "u/a") }
        #expect(isRefused { try watch(&places, "a4", "u/a") })
        for index in 0..<4 { try watch(&places, "b\(index)", "u/b") }
        #expect(isRefused { try watch(&places, "c", "u/c") })
        for index in 0..<2 { try watch(&places, "o\(index)", "u/owner", isOwner: true) }
        #expect(isRefused { try watch(&places, "o2", "u/owner", isOwner: true) })
        for session in ["a0", "b0", "o0"] { try places.connected(session: session) }
        var single = ViewerPlaces(maximum: 1)
        try watch(&single, "a", "u/a")
        try watch(&single, "o", "u/owner", isOwner: true)
    }

    @Test("A call that connects after the last place was taken is refused and frees what it held")
    func race() throws {
        var places = ViewerPlaces(maximum: 1)
        try places.add(session: "a", user: "u/a", isOwner: false)
        try places.add(session: "b", user: "u/b", isOwner: false)
        try places.connected(session: "b")
        #expect(isRefused { try places.connected(session: "a") })
        places.remove(session: "a")
        places.remove(session: "b")
        try watch(&places, "c", "u/c")
    }
}
