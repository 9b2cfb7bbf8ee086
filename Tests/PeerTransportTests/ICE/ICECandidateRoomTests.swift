import NIOCore
import Testing

@testable import PeerTransport

/// The effect of a peer's unreachable candidates on its own connection.
@Suite struct ICECandidateRoomTests {
    private func dead(_ count: Int, priority: UInt32 = .max / 2) throws -> [ICECandidate] {
        try (0..<count).map { index in
            ICECandidate(
                foundation: "d", priority: priority - UInt32(index),
                address: try ICENetwork.address("203.0.\(113 + index / 250).\(1 + index % 250)", 9), kind: .host)
        }
    }

    @Test("A check with the right credentials gets a pair, however many dead candidates came before")
    func peerReflexive() throws {
        var network = try ICENetwork.pair(seed: 201)
        for candidate in try dead(300) { network.hosts[1].agent.addRemoteCandidate(candidate, at: network.now) }
        network.exchangeCredentials()
        // The controlling agent knows the other's candidates; the other learns the address from the checks alone.
        for candidate in network.hosts[1].agent.localCandidates {
            network.hosts[0].agent.addRemoteCandidate(candidate, at: network.now)
        }
        try network.run(for: .seconds(1)) { $0.areCompleted }
        #expect(network.areCompleted)
        #expect(network.hosts[1].agent.selected == ICERoute(network.hosts[0].addresses[0]))
    }

    @Test("A late candidate of low priority replaces one that does not respond")
    func newest() throws {
        var network = try ICENetwork.pair(seed: 202)
        for candidate in try dead(100) { network.hosts[0].agent.addRemoteCandidate(candidate, at: network.now) }
        network.exchangeCredentials()
        try network.run(for: .seconds(3))
        #expect(network.hosts[0].agent.state == .checking)
        let right = ICECandidate(
            foundation: "1", priority: 1, address: network.hosts[1].addresses[0], kind: .relayed)
        network.hosts[0].agent.addRemoteCandidate(right, at: network.now)
        try network.run(for: .seconds(2)) { $0.areCompleted }
        #expect(network.areCompleted)
        #expect(network.hosts[0].agent.pairs.count <= 100)
    }

    @Test("A better candidate replaces the lowest one at once; a lower one is refused")
    func priorities() throws {
        var network = try ICENetwork.pair(seed: 203)
        network.exchangeCredentials()
        for candidate in try dead(100, priority: 1_000) {
            network.hosts[0].agent.addRemoteCandidate(candidate, at: network.now)
        }
        for (host, priority) in [("198.51.100.1", UInt32(2_000)), ("198.51.100.2", 1)] {
            network.hosts[0].agent.addRemoteCandidate(
                ICECandidate(
                    foundation: "1", priority: priority, address: try ICENetwork.address(host, 9), kind: .host),
                at: network.now)
        }
        let agent = network.hosts[0].agent
        #expect(agent.pairs.count == 100 && agent.remoteCandidates.count == 100)
        #expect(agent.pairs.contains { $0.remote.priority == 2_000 })
        #expect(!agent.pairs.contains { $0.remote.priority == 901 || $0.remote.priority == 1 })
    }

    @Test("Candidates of a family that we do not have do not displace others")
    func otherFamily() throws {
        var network = try ICENetwork.pair(seed: 204)
        for index in 1...100 {
            network.hosts[0].agent.addRemoteCandidate(
                ICECandidate(
                    foundation: "6", priority: .max / 2,
                    address: try ICENetwork.address("2001:db8::\(String(index, radix: 16))", 9), kind: .host),
                at: network.now)
        }
        network.exchangeCredentials()
        // The other side learns our address from our check alone.
        for candidate in network.hosts[1].agent.localCandidates {
            network.hosts[0].agent.addRemoteCandidate(candidate, at: network.now)
        }
        try network.run(for: .seconds(1)) { $0.areCompleted }
        #expect(network.areCompleted)
    }

    @Test("A pair that works or that the peer has checked is never removed for a candidate")
    func keepsWhatWorks() throws {
        var network = try ICENetwork.pair(seed: 205)
        network.exchangeCredentials()
        network.exchangeCandidates()
        try network.run(for: .seconds(1)) { $0.areCompleted }
        let selected = try #require(network.hosts[1].agent.selected)
        for candidate in try dead(1_000) { network.hosts[1].agent.addRemoteCandidate(candidate, at: network.now) }
        #expect(network.hosts[1].agent.pairs.contains { $0.route == selected })
        try network.run(for: .seconds(40))
        #expect(network.areCompleted)
    }
}
