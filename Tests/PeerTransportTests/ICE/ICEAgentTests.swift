import IoTCore
import NIOCore
import Testing

@testable import PeerTransport

@Suite struct ICEAgentTests {
    @Test("Two agents find and nominate a pair, and the controlled one selects it")
    func connects() throws {
        var network = try ICENetwork.pair(seed: 1)
        network.exchangeCredentials()
        network.exchangeCandidates()
        try network.run(for: .seconds(5)) { $0.areCompleted }
        #expect(network.areCompleted)
        #expect(network.hosts[0].agent.selected == ICERoute(network.hosts[1].addresses[0]))
        #expect(network.hosts[1].agent.selected == ICERoute(network.hosts[0].addresses[0]))
        #expect(network.hosts[0].events.contains(.validated(ICERoute(network.hosts[1].addresses[0]))))
        #expect(network.hosts[0].agent.counters.currentRoundTripTime == .milliseconds(20))
        // One round trip for the check, the pacing, and one way for the nomination.
        #expect(network.now - .uptimeNanoseconds(1_000_000_000) <= .milliseconds(60))
    }

    @Test("Agents connect over IPv6, and choose a family that both have")
    func connectsOverIPv6() throws {
        let left = try ICENetwork.host(["2001:db8::1"], port: 1000, isControlling: true, seed: 3)
        let right = try ICENetwork.host(["192.0.2.2", "2001:db8::2"], port: 2000, isControlling: false, seed: 4)
        var network = ICENetwork(left, right, seed: 5)
        network.exchangeCredentials()
        network.exchangeCandidates()
        try network.run(for: .seconds(5)) { $0.areCompleted }
        #expect(try network.hosts[0].agent.selected == ICERoute(ICENetwork.address("2001:db8::2", 2000)))
        #expect(try network.hosts[1].agent.selected == ICERoute(ICENetwork.address("2001:db8::1", 1000)))
    }

    @Test("Agents connect in spite of heavy loss", arguments: 1...30)
    func connectsThroughLoss(seed: Int) throws {
        var network = try ICENetwork.pair(seed: UInt64(seed) &* 7919)
        network.lossRate = 0.3
        network.exchangeCredentials(timeout: .seconds(30))
        network.exchangeCandidates()
        try network.run(for: .seconds(29)) { $0.areCompleted }
        #expect(network.areCompleted)
    }

    @Test("Checks that arrive before the description are answered and remembered")
    func earlyChecks() throws {
        var network = try ICENetwork.pair(seed: 11)
        let left = network.hosts[0].agent
        network.hosts[1].agent.start(remote: left.credentials, deadline: network.now + .seconds(10), at: network.now)
        for candidate in left.localCandidates { network.hosts[1].agent.addRemoteCandidate(candidate, at: network.now) }
        try network.run(for: .milliseconds(100))
        #expect(network.hosts[0].agent.state == .idle)
        #expect(network.hosts[1].agent.selected == ICERoute(network.hosts[0].addresses[0]))
        // The description arrives without a candidate: the check itself has shown the address.
        let right = network.hosts[1].agent
        network.hosts[0].agent.start(
            remote: right.credentials, deadline: network.now + .seconds(10), at: network.now)
        try network.run(for: .seconds(2)) { $0.areCompleted }
        #expect(network.areCompleted)
    }

    @Test("A peer with an address that was not signalled is found by its checks")
    func peerReflexive() throws {
        let left = try ICENetwork.host(["192.0.2.1"], port: 1000, isControlling: true, seed: 21)
        // The signalled address is unreachable; the packets come from another one.
        let right = try ICENetwork.host(
            ["192.0.2.9"], port: 2000, isControlling: false, seed: 22, offers: ["198.51.100.1"])
        var network = ICENetwork(left, right, seed: 23)
        network.exchangeCredentials()
        network.exchangeCandidates()
        try network.run(for: .seconds(5)) { $0.areCompleted }
        #expect(network.areCompleted)
        #expect(network.hosts[0].agent.selected == ICERoute(network.hosts[1].addresses[0]))
    }

    @Test("Candidates may trickle in long after the credentials, and a dead one does not delay a live one")
    func trickle() throws {
        var network = try ICENetwork.pair(seed: 31)
        network.exchangeCredentials()
        let dead = ICECandidate(
            foundation: "9", priority: .max / 2, address: try ICENetwork.address("203.0.113.7", 9), kind: .host)
        network.hosts[0].agent.addRemoteCandidate(dead, at: network.now)
        try network.run(for: .seconds(3))
        #expect(network.hosts[0].agent.state == .checking)
        network.exchangeCandidates()
        try network.run(for: .milliseconds(200)) { $0.areCompleted }
        #expect(network.areCompleted)
    }

    @Test("Two controlling or two controlled agents resolve the conflict by tie breaker", arguments: [true, false])
    func roleConflict(bothControl: Bool) throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            let left = try ICENetwork.host(["192.0.2.1"], port: 1000, isControlling: bothControl, seed: seed)
            let right = try ICENetwork.host(["192.0.2.2"], port: 2000, isControlling: bothControl, seed: seed + 100)
            var network = ICENetwork(left, right, seed: seed)
            network.lossRate = seed % 2 == 0 ? 0.2 : 0
            network.exchangeCredentials(timeout: .seconds(30))
            network.exchangeCandidates()
            try network.run(for: .seconds(29)) { $0.areCompleted }
            #expect(network.areCompleted)
            let controlling = network.hosts.filter(\.agent.isControlling)
            try #require(controlling.count == 1)
            let breakers = network.hosts.map(\.agent.tieBreaker)
            #expect(controlling[0].agent.tieBreaker == breakers.max())
        }
    }

    @Test("Without a path the agent fails in time with handshakeTimeout, and then has nothing more to do")
    func failsInTime() throws {
        var network = try ICENetwork.pair(seed: 41)
        network.isCut = true
        network.exchangeCredentials(timeout: .seconds(10))
        network.exchangeCandidates()
        try network.run(for: .seconds(11))
        #expect(network.hosts[0].events == [.failed(.handshakeTimeout)])
        #expect(network.hosts[0].agent.poll() == nil)
        #expect(network.hosts[0].sent == ICEConfiguration().transmissions)
    }

    @Test("A pair that is blocked in one direction is skipped for one that works")
    func asymmetricPair() throws {
        let left = try ICENetwork.host(["192.0.2.1"], port: 1000, isControlling: true, seed: 51)
        let right = try ICENetwork.host(["192.0.2.2", "192.0.2.3"], port: 2000, isControlling: false, seed: 52)
        var network = ICENetwork(left, right, seed: 53)
        network.blocked = [try ICENetwork.address("192.0.2.3", 2000)]
        network.exchangeCredentials()
        network.exchangeCandidates()
        try network.run(for: .seconds(5)) { $0.areCompleted }
        #expect(try network.hosts[0].agent.selected == ICERoute(ICENetwork.address("192.0.2.2", 2000)))
    }

    @Test("Loss of consent ends the connection after 30 s, with disconnected before")
    func consentExpires() throws {
        var network = try ICENetwork.pair(seed: 61)
        network.exchangeCredentials()
        network.exchangeCandidates()
        try network.run(for: .seconds(60))
        #expect(network.hosts.allSatisfy { !$0.events.contains(.disconnected) })
        #expect(network.hosts[0].agent.counters.consentRequestsSent >= 9)
        #expect(network.hosts[0].agent.counters.consentRequestsSent <= 16)
        network.isCut = true
        let cutAt = network.now
        try network.run(for: .seconds(60)) { $0.hosts.allSatisfy { $0.agent.state == .failed } }
        #expect(network.hosts[0].events.suffix(2) == [.disconnected, .failed(.timeoutDisconnected)])
        #expect(network.now - cutAt <= .seconds(30))
        #expect(network.now - cutAt >= .seconds(23))
    }

    @Test("A short interruption causes disconnected, then reconnected")
    func reconnects() throws {
        var network = try ICENetwork.pair(seed: 71)
        network.exchangeCredentials()
        network.exchangeCandidates()
        try network.run(for: .seconds(10))
        network.isCut = true
        try network.run(for: .seconds(12))
        network.isCut = false
        try network.run(for: .seconds(20))
        #expect(network.hosts[0].events.suffix(2) == [.disconnected, .reconnected])
        #expect(network.areCompleted)
    }

    @Test("Strangers without the password get no response, whatever else they know")
    func strangers() throws {
        var network = try ICENetwork.pair(seed: 81)
        network.exchangeCredentials()
        let stranger = try ICENetwork.address("203.0.113.66", 6666)
        let local = network.hosts[0].agent.credentials
        let remote = network.hosts[1].agent.credentials
        let id = STUNTransactionID(high: 1, low: 1)
        let named = STUNMessage(
            .request, transactionID: id,
            attributes: [.username("\(local.ufrag):\(remote.ufrag)"), .priority(1), .iceControlled(tieBreaker: 1)])
        for datagram in [named.datagram(), named.datagram(key: Array("wrong".utf8))] {
            let isOurs = network.hosts[0].agent.receive(datagram, from: stranger, at: network.now)
            #expect(!isOurs)
        }
        try network.run(for: .milliseconds(1))
        #expect(network.hosts[0].sent == 0)
        #expect(network.hosts[0].agent.validated.isEmpty)
    }

    @Test("An unknown comprehension-required attribute gets 420 with its number")
    func unknownAttribute() throws {
        var network = try ICENetwork.pair(seed: 91)
        network.exchangeCredentials()
        var agent = network.hosts[0].agent
        let request = STUNMessage(
            .request, transactionID: STUNTransactionID(high: 1, low: 1),
            attributes: [
                .username("\(agent.credentials.ufrag):\(network.hosts[1].agent.credentials.ufrag)"),
                .other(type: 0x7777, value: [1]),
            ])
        let isOurs = agent.receive(
            request.datagram(key: agent.credentials.key), from: network.hosts[1].addresses[0], at: network.now)
        #expect(isOurs)
        guard case .transmit(let datagram, _)? = agent.poll() else {
            Issue.record("no answer")
            return
        }
        let answer = try STUNMessage(parsing: datagram)
        #expect(answer.errorCode == 420)
        #expect(answer.attributes.contains(.unknownAttributes([0x7777])))
        #expect(answer.isAuthentic(key: agent.credentials.key))
    }

    @Test("However many candidates a peer signals, a limited number is tried, and none with a forbidden address")
    func boundedCandidates() throws {
        var network = try ICENetwork.pair(seed: 101)
        network.exchangeCredentials()
        for index in 0..<1000 {
            let text = "203.0.\(index / 250).\(1 + index % 250)"
            let candidate = ICECandidate(
                foundation: "1", priority: 1, address: try ICENetwork.address(text, 5), kind: .host)
            network.hosts[0].agent.addRemoteCandidate(candidate, at: network.now)
        }
        #expect(network.hosts[0].agent.pairs.count == 100)
        #expect(network.hosts[0].agent.counters.candidatesIgnored == 900)
        for text in ["224.0.0.1", "255.255.255.255", "0.0.0.0", "0.1.2.3"] {
            #expect(try !ICENetwork.address(text, 5).isReachableUnicast)
        }
        for text in ["::", "ff02::1", "fe80::1"] {
            #expect(try !ICENetwork.address(text, 5).isReachableUnicast)
        }
        #expect(try !ICENetwork.address("192.0.2.1", 0).isReachableUnicast)
    }

    @Test("New checks are Ta apart")
    func pacing() throws {
        var network = try ICENetwork.pair(seed: 111)
        network.isCut = true
        network.exchangeCredentials()
        for index in 1...10 {
            let candidate = ICECandidate(
                foundation: "1", priority: 1, address: try ICENetwork.address("203.0.113.\(index)", 5), kind: .host)
            network.hosts[0].agent.addRemoteCandidate(candidate, at: network.now)
        }
        try network.run(for: .milliseconds(99))
        #expect(network.hosts[0].sent == 5)
    }
}
