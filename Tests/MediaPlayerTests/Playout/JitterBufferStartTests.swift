import IoTCore
import MediaPlayer
import MediaTestSupport
import NIOCore
import Testing

/// Tests the instant start: a new viewer gets the current group of pictures faster than real time.
@Suite struct JitterBufferStartTests {
    @Test(
        "A burst starts with its first picture at once and soon reaches the live edge",
        arguments: [(1_000.0, 1_200_000), (8.0, 1_700_000)] as [(Double, Int64)])
    func burst(speed: Double, edge: Int64) throws {
        var scenario = PlayoutSimulation.Scenario(seconds: 20)
        scenario.groupLength = 240
        scenario.burst = 9_000_000
        scenario.burstSpeed = speed
        scenario.link = .init(delay: .milliseconds(5), jitter: .milliseconds(3), keepsOrder: true)
        let run = PlayoutSimulation.run(scenario)
        let first = try #require(run.shown.first)
        #expect(first.capture == -9_000_000)
        #expect(first.presentAt < 20_000)
        #expect(run.buffer.report.firstFrameTime.map { $0 < .milliseconds(20) } == true)

        let reached = try #require(run.buffer.report.liveEdgeTime)
        #expect(reached < .microseconds(edge), "\(run.summary)")
        #expect(run.outOfOrder == 0)
        #expect(run.isReleasedInOrder)
        // Every frame goes to the decoder and the recorder, even if it is not shown.
        let video = run.released.filter { $0.kind == .video }.map(\.decodingIndex)
        #expect(video == Array(0..<video.count))
        #expect(run.released.first { $0.kind == .audio }?.decodingIndex == 0)

        // At the edge, pictures are as new as the network and the delay allow, and synchronous with their sound.
        let after = reached.nanoseconds / 1_000 + 500_000
        let late = run.shown.filter { $0.presentAt > after }.map { $0.presentAt - $0.capture }
        #expect(late.allSatisfy { $0 < 150_000 }, "\(late.max() ?? 0)")
        #expect(run.largestSkew(from: after) < 20_000, "\(run.summary)")
        #expect(run.freezes().freezeCount == 0)
        #expect(run.times { if case .reachedLiveEdge = $0 { true } else { false } }.count == 1)
    }

    @Test("Old sound of a burst is not heard")
    func silentBurst() {
        var scenario = PlayoutSimulation.Scenario(seconds: 10)
        scenario.groupLength = 240
        scenario.burst = 8_000_000
        scenario.link = .init(delay: .milliseconds(5), keepsOrder: true)
        let run = PlayoutSimulation.run(scenario)
        #expect(run.heard.allSatisfy { $0.capture > -100_000 }, "\(run.heard.first?.capture ?? 0)")
        #expect(run.heard.count > 400, "\(run.summary)")
    }

    @Test("Without a burst the first picture is also shown at once")
    func fresh() throws {
        var scenario = PlayoutSimulation.Scenario(seconds: 5)
        scenario.link = .init(delay: .milliseconds(5), keepsOrder: true)
        let run = PlayoutSimulation.run(scenario)
        #expect(try #require(run.shown.first).presentAt < 60_000)
        #expect(try #require(run.buffer.report.liveEdgeTime) < .milliseconds(400))
    }

    @Test("A burst over a lossy network reaches the live edge")
    func lossyBurst() throws {
        var scenario = PlayoutSimulation.Scenario(seconds: 20)
        scenario.groupLength = 240
        scenario.burst = 9_000_000
        scenario.burstSpeed = 20
        scenario.link = .init(delay: .milliseconds(25), jitter: .milliseconds(30), loss: 0.05, seed: 3)
        let run = PlayoutSimulation.run(scenario)
        #expect(try #require(run.buffer.report.liveEdgeTime) < .milliseconds(2_500), "\(run.summary)")
        #expect(run.outOfOrder == 0)
        #expect(run.largestSkew(from: 4_000_000) < 80_000, "\(run.summary)")
    }

    @Test("Nothing is released before the first key frame, and a key frame is requested")
    func waitsForKeyFrame() {
        var buffer = JitterBuffer(now: .uptimeNanoseconds(0))
        for index in 0..<60 {
            buffer.receive(
                MediaFrame(
                    kind: .video, isKeyFrame: index == 50, pts: Int64(index) * 40_000, dts: 0,
                    bytes: ByteBuffer(integer: UInt32(index))),
                arrival: .uptimeNanoseconds(UInt64(index) * 40_000_000))
        }
        buffer.flush(at: .uptimeNanoseconds(2_500_000_000))
        var requests = 0
        var released: [UInt32] = []
        while let output = buffer.poll() {
            if case .timeout = output { break }
            if case .requestKeyFrame = output { requests += 1 }
            if case .release(_, let frame, _, _) = output {
                released.append(frame.bytes.getInteger(at: 0, as: UInt32.self) ?? 0)
            }
        }
        #expect(requests == 2)
        #expect(released == Array(50..<60))
        #expect(buffer.report.skippedFrames == 50)
    }
}
