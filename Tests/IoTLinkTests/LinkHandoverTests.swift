import IoTCore
import NIOCore
import Testing

@testable import IoTLink

@Suite("Moving an online session to a new token")
struct LinkHandoverTests {
    @Test("Renewing a token of 6 s repeatedly loses, duplicates and reorders no message", arguments: 0..<40)
    func renewals(_ seed: Int) {
        var world = VirtualBroker(seed: UInt64(seed))
        world.advance(.milliseconds(50))
        #expect(world.statuses == [.registering, .online])
        var asked: [String] = []
        for round in 0..<3_000 {
            let id = "r\(round)"
            asked.append(id)
            world.request(id)
            world.push()
            world.advance(.milliseconds(10))
        }
        world.advance(.seconds(2))
        #expect(world.machine.counters.renewedTokens >= 5)
        #expect(world.machine.counters.handovers == world.machine.counters.renewedTokens)
        #expect(world.statuses == [.registering, .online])
        #expect(world.executed == asked)
        #expect(asked.allSatisfy { world.completed[$0] == 1 })
        #expect(world.failures.isEmpty)
        #expect(world.pushes == world.pushed)
        #expect(world.mostWires == 2)
        #expect(world.wireCount == 1)
    }

    @Test("A clock that jumps causes neither a loop of renewals nor a missed renewal", arguments: [-40, -1, 1, 40])
    func clockJumps(_ years: Int64) {
        let jump = years * 365 * 86_400_000
        var world = VirtualBroker(seed: 7)
        world.advance(.seconds(1))
        // Our own clock has no effect.
        world.wall += jump
        world.advance(.seconds(30))
        #expect((6...9).contains(world.renewals.count))
        // The hub's clock: the tokens expire at once, or much later. The hub issues new ones by its own clock.
        let before = world.renewals.count
        world.hubTime += jump
        world.advance(.seconds(60))
        let after = world.renewals.count - before
        #expect(years > 0 ? (8...20).contains(after) : (1...20).contains(after))
        #expect(world.statuses == [.registering, .online])
    }

    @Test("A refused renewal is repeated, with growing pauses")
    func refusals() {
        var world = VirtualBroker(seed: 3, tokenLife: 86_400)
        world.renews = false
        world.advance(.seconds(57_600 + 3_600))
        #expect((6...16).contains(world.renewals.count))
        #expect(world.renewals.first.map { $0 >= .uptimeNanoseconds(57_600_000_000_000) } == true)
        #expect(world.statuses == [.registering, .online])
    }

    @Test("A failed new connection does not affect the old one, and is tried again")
    func failures() {
        var session = VirtualSession.online()
        for _ in 0..<3 {
            session.feed(.tokenUpdated)
            #expect(session.nextAttempts.count == 1)
            session.feed(.transport(attempt: session.nextAttempts[0], .credentialsRefused(IoTError(.tokenRejected))))
            #expect(session.isAbandoned)
            #expect(session.statuses.isEmpty)
        }
        session.advance(.seconds(5))
        #expect(session.nextAttempts.count == 1)
        session.request("a")
        #expect(session.publishedRequests.map(\.id) == ["a"])
    }

    @Test("When the old connection breaks during a handover, the session reconnects as usual")
    func oldOneBreaks() {
        var session = VirtualSession.online()
        session.feed(.tokenUpdated)
        let next = session.nextAttempts[0]
        session.feed(.transport(attempt: next, .connected))
        session.feed(.lost(IoTError(.linkUnavailable)))
        #expect(session.isAbandoned)
        #expect(session.machine.status.status == .offline)
        session.feed(.transport(attempt: next, .subscribed(granted: true)))
        #expect(session.outputs.isEmpty)
    }
}

extension VirtualSession {
    fileprivate var nextAttempts: [Int] {
        outputs.compactMap { if case .handover(.connect(let attempt, _, _)) = $0 { attempt } else { nil } }
    }

    fileprivate var isAbandoned: Bool {
        outputs.contains { if case .handover(.abandon) = $0 { true } else { false } }
    }
}
