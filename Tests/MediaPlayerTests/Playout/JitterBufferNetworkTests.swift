import IoTCore
import MediaPlayer
import MediaTestSupport
import NIOCore
import Testing

/// Tests whole minutes of a channel over a seeded virtual network.
@Suite struct JitterBufferNetworkTests {
    /// The network that the product is designed for: 5 % loss, 50 ms round trip, 30 ms jitter.
    private static func lossy(seed: UInt64, drift: Double = 0) -> PlayoutSimulation.Scenario {
        var scenario = PlayoutSimulation.Scenario(drift: drift)
        scenario.link = .init(delay: .milliseconds(25), jitter: .milliseconds(30), loss: 0.05, seed: seed)
        return scenario
    }

    @Test(
        "In a lossy network pictures stay in order, sound and picture stay synchronous, and freezes are short",
        arguments: [(1, 0.0), (2, 200.0), (3, -200.0)] as [(UInt64, Double)])
    func lossyNetwork(seed: UInt64, drift: Double) {
        let run = PlayoutSimulation.run(Self.lossy(seed: seed, drift: drift))
        #expect(run.outOfOrder == 0, "\(run.summary)")
        #expect(run.largestSkew(from: 1_000_000) < 80_000, "\(run.summary)")
        #expect(run.freezes().totalFreezesMicroseconds < 600_000, "\(run.summary)")
        #expect(run.shown.count > 1_480, "\(run.summary)")
        #expect(run.heard.count > 2_950, "\(run.summary)")
        #expect(run.isReleasedInOrder)
        #expect(run.decodedTooLate(depth: 1) < 15, "\(run.summary)")
        #expect(run.delay(at: 59_000_000) < 400_000, "\(run.summary)")
    }

    @Test("Without the buffer the same network exceeds those limits")
    func withoutBuffer() {
        var scenario = Self.lossy(seed: 1)
        scenario.options.isEnabled = false
        let run = PlayoutSimulation.run(scenario)
        #expect(run.outOfOrder > 100, "\(run.summary)")
        #expect(run.largestSkew(from: 1_000_000) > 80_000, "\(run.summary)")
    }

    @Test("With too small a fixed delay the same network makes many frames late")
    func smallFixedDelay() {
        var scenario = Self.lossy(seed: 1)
        scenario.options.fixedDelay = .milliseconds(40)
        let run = PlayoutSimulation.run(scenario)
        #expect(run.released.count { $0.kind == .audio && $0.isLate } > 150, "\(run.summary)")
        #expect(run.concealed > 2_000_000, "\(run.summary)")
        #expect(run.delays.allSatisfy { $0.delay == 40_000 })
    }

    @Test("The playout follows the drift of the camera's clock", arguments: [500.0, -500.0])
    func drift(millionths: Double) {
        var scenario = PlayoutSimulation.Scenario(seconds: 120, drift: millionths)
        scenario.groupLength = 240
        scenario.link = .init(delay: .milliseconds(10), jitter: .milliseconds(10), keepsOrder: true)
        let run = PlayoutSimulation.run(scenario)
        // 500 millionths of 120 s are 60 ms: more than the delay, if the drift were not followed.
        #expect(run.largestSkew(from: 1_000_000) < 20_000, "\(run.summary)")
        #expect(run.freezes().freezeCount == 0, "\(run.summary)")
        #expect(run.delay(at: 119_000_000) < 60_000, "\(run.summary)")
        #expect(run.released.count { $0.isLate } < 30, "\(run.summary)")
    }

    @Test("The delay grows with the jitter at once and shrinks slowly")
    func adapts() {
        var scenario = PlayoutSimulation.Scenario(seconds: 120)
        scenario.link = .init(delay: .milliseconds(20), jitter: .milliseconds(150))
        scenario.jitterChange = (at: 30_000_000, jitter: .zero)
        let run = PlayoutSimulation.run(scenario)
        let early = run.delay(at: 25_000_000)
        #expect((130_000...260_000).contains(early), "\(run.summary)")
        // Ten seconds of window, then at most 2 % or 5 ms per second.
        #expect(run.delay(at: 38_000_000) > early - 45_000)
        #expect(run.delay(at: 60_000_000) < early - 50_000)
        #expect(run.delay(at: 118_000_000) < 40_000, "\(run.summary)")
        for (before, after) in zip(run.delays, run.delays.dropFirst()) where after.at > 32_000_000 {
            let seconds = Double(after.at - before.at) / 1_000_000
            #expect(Double(before.delay - after.delay) <= seconds * 10_000 + 1_000)
        }
        let pictures = run.shown.filter { $0.presentAt > 32_000_000 }
        for (before, after) in zip(pictures, pictures.dropFirst()) {
            #expect(after.presentAt - before.presentAt > 36_000, "playback is at most 5 % faster")
        }
    }

    @Test("In a quiet network the delay shrinks to the margin")
    func quiet() {
        var scenario = PlayoutSimulation.Scenario(seconds: 60)
        scenario.link = .init(delay: .milliseconds(5), keepsOrder: true)
        let run = PlayoutSimulation.run(scenario)
        // A file is sent by its decoding times, so pictures need no additional wait.
        #expect(run.delay(at: 59_000_000) <= 12_000, "\(run.summary)")
        #expect(run.released.allSatisfy { !$0.isLate || $0.kind == .audio && $0.capture < 300_000 })
        #expect(run.decodedTooLate(depth: 1) <= 1, "\(run.summary)")
        #expect(run.largestSkew() < 20_000, "\(run.summary)")
    }

    @Test("A stream that reorders more than its parameters say is learnt", arguments: [nil, 0] as [Int?])
    func unknownDepth(depth: Int?) {
        var scenario = PlayoutSimulation.Scenario(seconds: 20)
        scenario.reorderDepth = depth
        scenario.link = .init(delay: .milliseconds(5), jitter: .milliseconds(10), keepsOrder: true)
        let run = PlayoutSimulation.run(scenario)
        #expect(run.outOfOrder == 0)
        #expect(run.shown.count > 485, "\(run.summary)")
        #expect(run.decodedTooLate(depth: 1) < 10, "\(run.summary)")
    }

    @Test("Sound and picture are aligned by the sender reports, not by their arrival")
    func reports() {
        var scenario = PlayoutSimulation.Scenario(seconds: 30, videoLag: 200_000)
        scenario.link = .init(delay: .milliseconds(10), jitter: .milliseconds(10), keepsOrder: true)
        let early = PlayoutSimulation.run(scenario)
        #expect(early.largestSkew(from: 1_500_000) < 20_000, "\(early.summary)")
        // Late reports re-align the tracks smoothly.
        scenario.firstReport = 5_000_000
        let late = PlayoutSimulation.run(scenario)
        #expect(late.largestSkew(from: 12_000_000) < 20_000, "\(late.summary)")
        #expect(late.freezes(from: 1_000_000).freezeCount == 0, "\(late.summary)")
        scenario.firstReport = nil
        let without = PlayoutSimulation.run(scenario)
        // Without reports the picture's delay is unknown: both are shown as they come.
        #expect(without.largestSkew(from: 8_000_000) > 150_000, "\(without.summary)")
    }

    @Test("Each track can be played alone", arguments: [(true, false), (false, true)])
    func alone(video: Bool, audio: Bool) {
        var scenario = PlayoutSimulation.Scenario(seconds: 20, hasVideo: video, hasAudio: audio)
        scenario.link = .init(delay: .milliseconds(25), jitter: .milliseconds(30), loss: 0.05)
        let run = PlayoutSimulation.run(scenario)
        #expect(run.shown.count > (video ? 480 : -1), "\(run.summary)")
        #expect(run.heard.count > (audio ? 950 : -1), "\(run.summary)")
        #expect(run.outOfOrder == 0)
    }
}
