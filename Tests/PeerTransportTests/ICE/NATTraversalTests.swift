import IoTCore
import NIOCore
import Testing

@testable import PeerTransport

/// RFC 8445 with STUN and TURN over every kind of NAT.
@Suite struct NATTraversalTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var left: VirtualNAT.Kind
        var right: VirtualNAT.Kind
        var testDescription: String { "\(left.rawValue) and \(right.rawValue)" }

        /// True when neither side can predict the port that the other side's filter requires, or when UDP is blocked.
        var needsRelay: Bool {
            let pair: Set = [left, right]
            return pair.contains(.udpBlocked) || pair == [.symmetric] || pair == [.symmetric, .portRestricted]
        }
    }

    static let cases = VirtualNAT.Kind.translating.flatMap { left in
        VirtualNAT.Kind.translating.map { Case(left: left, right: $0) }
    }
    static let blockedCases =
        VirtualNAT.Kind.allCases.map { Case(left: .udpBlocked, right: $0) }
        + VirtualNAT.Kind.translating.map { Case(left: $0, right: .udpBlocked) }

    @Test("All pairs of NATs connect, directly where possible, and data pass both ways", arguments: cases)
    func allPairs(pair: Case) throws {
        try connectAll(pair, conditions: NATNetwork.Conditions(), seeds: 1...40)
    }

    @Test("All pairs of NATs connect with 3 % of datagrams lost, some duplicated, all out of order", arguments: cases)
    func allPairsThroughLoss(pair: Case) throws {
        let conditions = NATNetwork.Conditions(
            delay: .milliseconds(25), jitter: .milliseconds(25), lossRate: 0.03, duplicateRate: 0.03)
        try connectAll(pair, conditions: conditions, seeds: 1...20)
    }

    @Test("A host with blocked UDP connects through TURN over TCP", arguments: blockedCases)
    func blocked(pair: Case) throws {
        try connectAll(pair, conditions: NATNetwork.Conditions(), seeds: 1...40)
    }

    private func connectAll(
        _ pair: Case, conditions: NATNetwork.Conditions, seeds: ClosedRange<UInt64>
    ) throws {
        var times: [TimeAmount] = []
        var needless = 0
        for seed in seeds {
            let network = try NATNetwork(pair.left, pair.right, seed: seed, conditions: conditions)
            network.connect()
            try network.run(for: .seconds(9)) { $0.areCompleted }
            try #require(network.areCompleted, "seed \(seed): \(network.summary)")
            if pair.needsRelay {
                #expect(network.usesRelay, "seed \(seed)")
            } else if network.usesRelay {
                needless += 1
            }
            times.append(try #require(network.connectTime))
            // Both directions, often enough in spite of the loss.
            for _ in 1...6 {
                network.send("left", from: 0)
                network.send("right", from: 1)
                try network.run(for: .milliseconds(100))
            }
            #expect(network.hosts[1].received.contains("left"), "seed \(seed)")
            #expect(network.hosts[0].received.contains("right"), "seed \(seed)")
            #expect(network.greatestDatagram <= 1200)
        }
        // When checks are lost, a direct path may be found only after the wait for it.
        #expect(needless <= (conditions.lossRate > 0 ? 1 : 0))
        // By nearest rank.
        let slow = times.sorted()[(times.count * 95 + 99) / 100 - 1]
        #expect(slow <= .seconds(2), "p95 \(slow.nanoseconds / 1_000_000) ms")
    }
}
