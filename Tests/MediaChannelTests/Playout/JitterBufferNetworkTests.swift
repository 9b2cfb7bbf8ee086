import IoTCore
import MediaChannel
import NIOCore
import Testing

/// Whole minutes of a channel over a seeded virtual network.
@Suite struct JitterBufferNetworkTests {
    /// The design's network: 5 % loss, 50 ms round trip, 30 ms jitter.
    private static func lossy(seed: UInt64, drift: Double = 0) -> PlayoutSimulation.Scenario {
        var scenario = PlayoutSimulation.Scenario(drift: drift)
        scenario.link = .init(delay: .milliseconds(25), jitter: .milliseconds(30), loss: 0.05, seed: seed)
        return scenario
    }

    @Test("In a lossy network pictures keep their order, sound and picture stay together, little is frozen",
        arguments: [(1, 0.0), (2, 200.0), (3, -200.0)] as [(UInt64, Double)])
    func lossyNetwork(seed: UInt64, drift: Double) {
        let run = PlayoutSimulation.run(Self.lossy(seed: seed, drift: drift))
        #expect(run.outOfOrder == 0, "\(run.summary)")
        #expect(run.largestSkew(from: 1_000_000) < 80_000, "\(run.summary)")
        #expect(run.freezes().totalFreezesMicroseconds < 600_000, "\(run.summary)")
        #expect(run.shown.count > 1_460, "\(run.summary)")
        #expect(run.heard.count > 2_900, "\(run.summary)")
        #expect(run.isReleasedInOrder)
        #expect(run.decodedTooLate(depth: 1) < 15, "\(run.summary)")
        #expect(run.delay(at: 59_000_000) < 400_000, "\(run.summary)")
    }

    @Test("Without the buffer the same network breaks those bounds")
    func withoutBuffer() {
        var scenario = Self.lossy(seed: 1)
        scenario.options.isEnabled = false
        let run = PlayoutSimulation.run(scenario)
        #expect(run.outOfOrder > 100, "\(run.summary)")
        #expect(run.largestSkew(from: 1_000_000) > 80_000, "\(run.summary)")
    }
}
