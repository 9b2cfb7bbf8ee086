import IoTCore
import MediaPlayer
import MediaTestSupport
import NIOCore
import Testing

/// Tests the early release of frames, which saves wake-ups.
@Suite struct JitterBufferCoalescingTests {
    private static func run(_ link: VirtualLink<PlayoutSimulation.Packet>.Configuration, coalescing: TimeAmount)
        -> PlayoutSimulation
    {
        var scenario = PlayoutSimulation.Scenario()
        scenario.link = link
        scenario.options.coalescing = coalescing
        return PlayoutSimulation.run(scenario)
    }

    @Test("In a calm network the result is the same for the viewer")
    func calmNetwork() {
        let link = VirtualLink<PlayoutSimulation.Packet>.Configuration(
            delay: .milliseconds(5), jitter: .milliseconds(2), loss: 0, seed: 1)
        let exact = Self.run(link, coalescing: .zero)
        let coalesced = Self.run(link, coalescing: .milliseconds(25))
        #expect(abs(coalesced.shown.count - exact.shown.count) <= 2, "\(coalesced.summary) / \(exact.summary)")
        #expect(abs(coalesced.heard.count - exact.heard.count) <= 2, "\(coalesced.summary) / \(exact.summary)")
        #expect(coalesced.outOfOrder == 0)
        #expect(coalesced.isReleasedInOrder)
        #expect(coalesced.largestSkew(from: 3_000_000) < 40_000, "\(coalesced.summary)")
        #expect(coalesced.concealed <= exact.concealed)
    }

    /// The number of timer calls in 20 s of a calm network, if only an expired timer is set again.
    private static func rings(coalescing: TimeAmount) -> Int {
        var options = JitterBufferOptions(coalescing: coalescing)
        options.initialTolerance = .milliseconds(5)
        var buffer = JitterBuffer(options: options, now: .uptimeNanoseconds(1_000_000_000))
        let sounds = (0..<937).map { (kind: MediaKind.audio, pts: Int64($0) * 21_333) }
        let pictures = (0..<500).map { (kind: MediaKind.video, pts: Int64($0) * 40_000) }
        var rings = 0
        var timer: NIODeadline?
        func drain() {
            while let output = buffer.poll() {
                guard case .timeout(let deadline) = output else { continue }
                timer = min(timer ?? deadline, deadline)
                return
            }
        }
        for (kind, pts) in (sounds + pictures).sorted(by: { $0.pts < $1.pts }) {
            let arrival = NIODeadline.uptimeNanoseconds(1_000_000_000) + .microseconds(pts + pts % 3_000)
            while let deadline = timer, deadline <= arrival {
                timer = nil
                rings += 1
                buffer.handleTimeout(at: deadline)
                drain()
            }
            buffer.receive(
                MediaFrame(kind: kind, isKeyFrame: true, pts: pts, dts: pts, bytes: ByteBuffer()), arrival: arrival)
            drain()
        }
        return rings
    }

    @Test("In a calm network few timers fire between the arrivals")
    func fewTimers() {
        let exact = Self.rings(coalescing: .zero)
        let coalesced = Self.rings(coalescing: .milliseconds(25))
        #expect(coalesced < exact / 2, "\(coalesced) of \(exact)")
    }

    @Test(
        "In a lossy network the playout stays within its limits",
        arguments: 1...3 as ClosedRange<UInt64>)
    func lossyNetwork(seed: UInt64) {
        let run = Self.run(
            .init(delay: .milliseconds(25), jitter: .milliseconds(30), loss: 0.05, seed: seed),
            coalescing: .milliseconds(25))
        #expect(run.outOfOrder == 0, "\(run.summary)")
        #expect(run.largestSkew(from: 1_000_000) < 80_000, "\(run.summary)")
        #expect(run.freezes().totalFreezesMicroseconds < 600_000, "\(run.summary)")
        #expect(run.shown.count > 1_480, "\(run.summary)")
        #expect(run.heard.count > 2_950, "\(run.summary)")
        #expect(run.decodedTooLate(depth: 1) < 15, "\(run.summary)")
    }
}
