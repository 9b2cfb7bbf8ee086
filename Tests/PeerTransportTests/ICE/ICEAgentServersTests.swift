import IoTCore
import NIOCore
import Testing

@testable import PeerTransport

/// Gathering, long-lived relays, restarts, lite agents and names, over the virtual network.
@Suite struct ICEAgentServersTests {
    static func candidateKinds(_ host: NATNetwork.Host) -> [ICECandidate.Kind] {
        host.agent.localCandidates.map(\.kind)
    }

    static func errors(_ host: NATNetwork.Host) -> [TURNFailure] {
        host.events.compactMap { if case .candidateError(_, let failure) = $0 { failure } else { nil } }
    }

    @Test("Behind a NAT there are a host, a server-reflexive and a relayed candidate, with their bases")
    func gathers() throws {
        let network = try NATNetwork(.portRestricted, .portRestricted, seed: 1)
        network.connect()
        try network.run(for: .milliseconds(250))
        let host = network.hosts[0]
        #expect(Self.candidateKinds(host) == [.host, .serverReflexive, .relayed])
        #expect(host.events.contains(.gathered))
        let reflexive = host.agent.localCandidates[1]
        #expect(reflexive.address.ipAddress == "203.0.113.1")
        #expect(reflexive.related == host.addresses[0])
        let relayed = host.agent.localCandidates[2]
        #expect(relayed.address.ipAddress == "192.0.2.100")
        #expect(relayed.related?.ipAddress == "203.0.113.1")
        let priorities = host.agent.localCandidates.map(\.priority)
        #expect(priorities == priorities.sorted(by: >))
        // UDP succeeded before TCP's turn.
        #expect(host.links.count == 1)
    }

    @Test("Without a NAT the reflexive address equals the host's and is not signalled twice")
    func gathersInTheOpen() throws {
        let network = try NATNetwork(nil, nil, seed: 2)
        network.connect()
        try network.run(for: .milliseconds(250))
        #expect(Self.candidateKinds(network.hosts[0]) == [.host, .relayed])
        #expect(network.areCompleted)
        #expect(!network.usesRelay)
    }

    @Test("A server that recently gave no response is queried, but gathering does not wait for it")
    func serversNotAwaited() throws {
        let dead = "stun:198.51.100.99"
        for isKnown in [false, true] {
            let network = try NATNetwork(.fullCone, .fullCone, seed: 6, urls: ["stun:192.0.2.100", dead]) { _, ice in
                ice.serversNotAwaited = isKnown ? [dead] : []
            }
            network.hosts[0].agent.gather(at: network.now)
            try network.run(for: .milliseconds(250))
            let agent = network.hosts[0].agent
            #expect(network.hosts[0].events.contains(.gathered) == isKnown)
            #expect(agent.isGathered == isKnown)
            #expect(agent.gatherer.unansweredURLs == [dead] && agent.gatherer.answeredURLs == ["stun:192.0.2.100"])
            try network.run(for: .seconds(20))
            #expect(network.hosts[0].agent.isGathered)
            #expect(network.hosts[0].events.count { $0 == .gathered } == 1)
            #expect(Self.errors(network.hosts[0]).count == 1)
        }
        // Such a server alone costs no time, and its late result is still signalled.
        let network = try NATNetwork(.fullCone, .fullCone, seed: 7, urls: ["stun:192.0.2.100"]) { _, ice in
            ice.serversNotAwaited = ["stun:192.0.2.100"]
        }
        network.hosts[0].agent.gather(at: network.now)
        #expect(network.hosts[0].agent.isGathered)
        try network.run(for: .seconds(1))
        #expect(Self.candidateKinds(network.hosts[0]) == [.host, .serverReflexive])
        #expect(network.hosts[0].agent.gatherer.answeredURLs == ["stun:192.0.2.100"])
    }

    @Test("Unused relays are released after the nomination, and the one in use on closing")
    func givesRelaysBack() throws {
        let direct = try NATNetwork(.fullCone, .fullCone, seed: 3)
        direct.connect()
        try direct.run(for: .seconds(6))
        #expect(direct.server.allocations.isEmpty)
        #expect(direct.server.deleted == 2)
        #expect(direct.hosts.allSatisfy { $0.links.isEmpty })

        let relayed = try NATNetwork(.symmetric, .symmetric, seed: 4)
        relayed.connect()
        try relayed.run(for: .seconds(6))
        #expect(!relayed.server.allocations.isEmpty)
        for host in relayed.hosts { host.agent.close() }
        try relayed.run(for: .seconds(1))
        #expect(relayed.server.allocations.isEmpty)
    }

    @Test("A relayed connection lasts for two hours: permissions, channels and nonces are renewed")
    func relayedForHours() throws {
        for (left, right) in [(VirtualNAT.Kind.symmetric, VirtualNAT.Kind.symmetric), (.udpBlocked, .fullCone)] {
            let network = try NATNetwork(left, right, seed: 5)
            network.connect()
            try network.run(for: .seconds(6))
            try #require(network.areCompleted)
            for minute in 1...120 {
                try network.run(for: .minutes(1))
                try #require(network.areCompleted, "minute \(minute)")
                network.send("left \(minute)", from: 0)
                network.send("right \(minute)", from: 1)
                try network.run(for: .seconds(1))
                try #require(network.hosts[1].received.last == "left \(minute)")
                try #require(network.hosts[0].received.last == "right \(minute)")
            }
        }
    }

    @Test("With the policy relay, only relays are signalled or used")
    func relayOnly() throws {
        let network = try NATNetwork(nil, nil, seed: 6) { _, configuration in
            configuration.transportPolicy = .relay
        }
        network.connect()
        try network.run(for: .seconds(5)) { $0.areCompleted }
        #expect(network.areCompleted)
        for host in network.hosts {
            #expect(Self.candidateKinds(host) == [.relayed])
            #expect(host.agent.selected?.relay != nil)
            #expect(host.agent.validated.allSatisfy { $0.relay != nil })
        }
    }

    @Test("Loss of consent over a relay ends with timeoutDisconnected")
    func consentOverRelay() throws {
        let network = try NATNetwork(.symmetric, .symmetric, seed: 7)
        network.connect()
        try network.run(for: .seconds(6))
        network.isCut = true
        try network.run(for: .seconds(40))
        #expect(network.hosts[0].events.last == .failed(.timeoutDisconnected))
        #expect(network.hosts[0].agent.poll() == nil)
    }

    @Test("A server that does not respond causes an event, and the others' candidates are used")
    func deadServer() throws {
        let network = try NATNetwork(
            .fullCone, .fullCone, seed: 8, urls: ["stun:192.0.2.55", "stun:192.0.2.100", "turn:192.0.2.56"])
        network.connect()
        try network.run(for: .seconds(12))
        #expect(network.areCompleted)
        #expect(Self.errors(network.hosts[0]).map(\.code) == [701, 701])
        #expect(network.hosts[0].events.contains(.gathered))
    }

    @Test("Wrong credentials cause an event with 401 for each transport to the server; the connection is not affected")
    func wrongCredentials() throws {
        let network = try NATNetwork(.fullCone, .fullCone, seed: 9)
        network.server.password = "other"
        network.connect()
        try network.run(for: .seconds(12))
        #expect(network.areCompleted)
        #expect(Self.errors(network.hosts[0]).map(\.code) == [401, 401])
    }

    @Test("A server that redirects to itself is given up at once")
    func redirects() throws {
        let network = try NATNetwork(.fullCone, .fullCone, seed: 10, urls: ["turn:192.0.2.100"])
        var count = 0
        network.server.override = { message in
            guard message.method == STUNMessage.allocateMethod else { return nil }
            count += 1
            let other = try? SocketAddress(ipAddress: "192.0.2.100", port: 3478)
            return STUNMessage(
                .errorResponse, method: message.method, transactionID: message.transactionID,
                attributes: [.errorCode(300, reason: "Try Alternate")] + (other.map { [.alternateServer($0)] } ?? []))
        }
        network.connect()
        try network.run(for: .seconds(12))
        #expect(Self.errors(network.hosts[0]).map(\.code) == [300])
        #expect(count == 2)
    }

    @Test("A STUN server that reports an impossible address for us is ignored")
    func lyingSTUN() throws {
        let network = try NATNetwork(nil, nil, seed: 11, urls: ["stun:192.0.2.100"])
        network.server.override = { message in
            let lie = try? SocketAddress(ipAddress: "224.0.0.1", port: 1)
            return STUNMessage(
                .successResponse, transactionID: message.transactionID,
                attributes: lie.map { [.xorMappedAddress($0)] } ?? [])
        }
        network.connect()
        try network.run(for: .seconds(2))
        #expect(Self.candidateKinds(network.hosts[0]) == [.host])
        #expect(Self.errors(network.hosts[0]).map(\.code) == [701])
        #expect(network.areCompleted)
    }

    @Test("A redirect to another server is followed")
    func followsRedirect() throws {
        let network = try NATNetwork(.symmetric, .symmetric, seed: 21, urls: ["turn:192.0.2.99"])
        network.redirects = try SocketAddress(ipAddress: "192.0.2.99", port: 3478)
        network.connect()
        try network.run(for: .seconds(5)) { $0.areCompleted }
        #expect(network.areCompleted)
        #expect(network.usesRelay)
    }

    @Test("A stranger's data to a relay are not passed on as the peer's, and its checks get no response")
    func strangerAtRelay() throws {
        let network = try NATNetwork(.symmetric, .symmetric, seed: 22)
        network.connect()
        try network.run(for: .seconds(6))
        let index = try #require(network.hosts.firstIndex { $0.agent.selected?.relay != nil })
        let agent = network.hosts[index].agent
        let link = try #require(agent.selected?.relay)
        let remote = try #require(agent.selected?.remote)
        // From another port of the peer's address, which the permission covers.
        var stranger = remote
        stranger.port = 1
        let before = network.hosts[index].received.count
        let request = STUNMessage(
            .request, transactionID: STUNTransactionID(high: 9, low: 9),
            attributes: [.username("\(agent.credentials.ufrag):x"), .priority(1)])
        for payload in [ByteBuffer(string: "stranger"), request.datagram(), request.datagram(key: [1, 2, 3])] {
            let indication = STUNMessage(
                .indication, method: STUNMessage.dataMethod, transactionID: STUNTransactionID(high: 1, low: 1),
                attributes: [.xorPeerAddress(stranger), .data(payload)])
            network.hosts[index].agent.linkReceived(link, indication.datagram(), at: network.now)
        }
        #expect(network.hosts[index].agent.outputs.isEmpty)
        try network.run(for: .milliseconds(10))
        #expect(network.hosts[index].received.count == before)
        #expect(!network.hosts[index].agent.validated.contains(ICERoute(stranger, relay: link)))
    }

    // MARK: Restart

    @Test("A restart finds a new path while data continue on the old one, and consent moves to it", arguments: 1...20)
    func restarts(seed: Int) throws {
        let network = try NATNetwork(.portRestricted, .symmetric, seed: UInt64(seed))
        network.connect()
        try network.run(for: .seconds(6))
        try #require(network.areCompleted)
        let old = network.hosts.map(\.agent.credentials)
        for host in network.hosts {
            host.agent.restart()
            #expect(host.agent.selected != nil)
        }
        #expect(network.hosts[0].agent.credentials != old[0])
        network.connect()
        var sent = 0
        var nextSend = network.now
        try network.run(for: .seconds(5)) { network in
            if network.areCompleted { return true }
            if network.now >= nextSend {
                network.send("\(sent)", from: 0)
                sent += 1
                nextSend = network.now + .milliseconds(10)
            }
            return false
        }
        try #require(network.areCompleted)
        try network.run(for: .seconds(1))
        // No data were lost during the restart.
        #expect(network.hosts[1].received.count == sent)
        try network.run(for: .minutes(3))
        #expect(network.areCompleted)
        #expect(network.hosts.allSatisfy { !$0.events.contains(.disconnected) })
        network.send("after", from: 0)
        try network.run(for: .seconds(1))
        #expect(network.hosts[1].received.last == "after")
        #expect(network.server.allocations.count <= 2)
    }

    @Test("Fifty restarts leave no more state than one")
    func manyRestarts() throws {
        let network = try NATNetwork(.symmetric, .portRestricted, seed: 23)
        network.connect()
        try network.run(for: .seconds(6))
        for round in 1...50 {
            for host in network.hosts { host.agent.restart() }
            network.connect()
            try network.run(for: .seconds(5))
            try #require(network.areCompleted, "round \(round)")
            network.send("\(round)", from: 0)
            try network.run(for: .milliseconds(200))
            try #require(network.hosts[1].received.last == "\(round)")
        }
        for host in network.hosts {
            #expect(host.agent.validated.count <= 12)
            #expect(host.agent.gatherer.links.count <= 1)
            #expect(host.links.count <= 1)
            #expect(host.agent.relays.count <= 1)
        }
        #expect(network.server.allocations.count <= 2)
    }

    @Test("A restart without an answer keeps the old path")
    func restartWithoutAnswer() throws {
        let network = try NATNetwork(.fullCone, .fullCone, seed: 13)
        network.connect()
        try network.run(for: .seconds(6))
        network.hosts[0].agent.restart()
        try network.run(for: .minutes(3))
        network.send("still here", from: 0)
        network.send("there, too", from: 1)
        try network.run(for: .seconds(1))
        #expect(network.hosts[1].received.last == "still here")
        #expect(network.hosts[0].received.last == "there, too")
        #expect(network.hosts.allSatisfy { $0.agent.state != .failed })
    }

    // MARK: Lite, names, trickle

    @Test("A lite agent sends no checks, accepts the nomination, and fails without the peer's consent checks")
    func lite() throws {
        let network = try NATNetwork(.portRestricted, nil, seed: 14) { index, configuration in
            configuration.isLite = index == 1
        }
        network.connect()
        try network.run(for: .minutes(2))
        #expect(network.areCompleted)
        let lite = network.hosts[1].agent
        #expect(lite.counters.requestsSent == 0)
        #expect(Self.candidateKinds(network.hosts[1]) == [.host])
        network.send("to the lite one", from: 0)
        network.send("from it", from: 1)
        try network.run(for: .seconds(1))
        #expect(network.hosts[1].received == ["to the lite one"])
        #expect(network.hosts[0].received == ["from it"])
        network.isCut = true
        try network.run(for: .seconds(40))
        #expect(network.hosts[1].events.last == .failed(.timeoutDisconnected))
    }

    @Test("A hidden address is resolved by its name and used; a name without an address is discarded")
    func names() throws {
        var network = try ICENetwork.pair(seed: 15)
        network.exchangeCredentials()
        let text = "candidate:1 1 udp 2113937151 1f0e.local 2000 typ host"
        let hidden = try #require(try ICECandidate(parsing: text))
        network.hosts[0].agent.addRemoteCandidate(hidden, at: network.now)
        #expect(network.hosts[0].agent.poll() == .request(.resolve("1f0e.local")))
        var nameless = hidden
        nameless.name = "2f.local"
        network.hosts[0].agent.addRemoteCandidate(nameless, at: network.now)
        network.hosts[0].agent.resolved("2f.local", to: [], at: network.now)
        #expect(network.hosts[0].agent.pairs.isEmpty)
        network.hosts[0].agent.resolved(
            "1f0e.local", to: [try ICENetwork.address("192.0.2.2", 1)], at: network.now)
        try network.run(for: .seconds(1)) { $0.areCompleted }
        #expect(network.areCompleted)
        // The number of queries is limited, whatever a peer sends.
        var agent = try ICENetwork.pair(seed: 16).hosts[0].agent
        for index in 0..<100 {
            nameless.name = "\(index).local"
            agent.addRemoteCandidate(nameless, at: network.now)
        }
        #expect(agent.unresolved.count == ICEAgent.maximumUnresolved)
    }

    @Test("A server is found by its name")
    func serverName() throws {
        let network = try NATNetwork(
            .symmetric, .symmetric, seed: 17, urls: ["stun:turn.example.org", "turn:turn.example.org"])
        for host in network.hosts { host.names["turn.example.org"] = [network.server.address] }
        network.connect()
        try network.run(for: .seconds(5)) { $0.areCompleted }
        #expect(network.areCompleted)
        let nowhere = try NATNetwork(.fullCone, nil, seed: 18, urls: ["stun:nowhere.example.org"])
        nowhere.connect()
        try nowhere.run(for: .seconds(5))
        #expect(Self.errors(nowhere.hosts[0]).map(\.code) == [701])
    }

    @Test("A candidate of another generation is ignored because of its ufrag")
    func foreignGeneration() throws {
        var network = try ICENetwork.pair(seed: 19)
        network.exchangeCredentials()
        var candidate = network.hosts[1].agent.localCandidates[0]
        candidate.ufrag = "other"
        network.hosts[0].agent.addRemoteCandidate(candidate, at: network.now)
        #expect(network.hosts[0].agent.pairs.isEmpty)
    }

    @Test("Statistics report the pair, its candidates and its traffic")
    func statistics() throws {
        let network = try NATNetwork(.symmetric, .symmetric, seed: 20)
        network.connect()
        try network.run(for: .seconds(6))
        network.hosts[0].agent.noteSent(100)
        let pair = try #require(network.hosts[0].agent.pairStatistics.first { $0.isSelected })
        #expect(pair.nominated)
        #expect(pair.state == "succeeded")
        #expect(pair.bytesSent == 100)
        #expect(pair.packetsSent == 1)
        #expect(pair.local.candidateType == "relay" || pair.remote.candidateType == "relay")
        #expect(pair.requestsSent > 0)
        #expect(try #require(pair.currentRoundTripTime) > .zero)
        let local = network.hosts[0].agent.localCandidateStatistics
        #expect(local.map(\.candidateType) == ["host", "srflx", "relay"])
        #expect(local[2].relayProtocol == "udp")
        #expect(local[2].url == "turn:192.0.2.100")
    }
}
