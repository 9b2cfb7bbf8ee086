import IoTCore
import MediaPlayer
import MediaTestSupport
import NIOCore
import TestSupport
import Testing

/// Tests jumps of time, outages, losses and invalid input.
@Suite struct JitterBufferDisturbanceTests {
    private static func calm(seconds: Int64) -> PlayoutSimulation.Scenario {
        var scenario = PlayoutSimulation.Scenario(seconds: seconds)
        scenario.link = .init(delay: .milliseconds(10), jitter: .milliseconds(10), keepsOrder: true)
        return scenario
    }

    @Test("After a jump of the camera's time, play continues at once", arguments: [-4_000_000, 90_000_000, 3_000_000])
    func jump(by step: Int64) {
        var scenario = Self.calm(seconds: 20)
        scenario.jump = (at: 9_600_000, by: step)
        let run = PlayoutSimulation.run(scenario)
        let reasons = run.outputs.compactMap { entry -> String? in
            guard case .discontinuity(let kind, let reason) = entry.output else { return nil }
            return "\(kind) \(reason)"
        }
        #expect(reasons.sorted() == ["audio timeJump", "video timeJump"])
        #expect(run.buffer.report.discontinuities == 1, "both tracks show the one jump")
        #expect(run.outOfOrder == 0, "\(run.summary)")
        #expect(run.shown.count > 490, "\(run.summary)")
        #expect(run.freezes(from: 1_000_000).freezeCount == 0, "\(run.summary)")
        #expect(run.largestSkew(from: 1_000_000) < 80_000, "\(run.summary)")
        #expect(run.delay(at: 19_000_000) < 100_000)
    }

    @Test(
        "Sound alone is a stall only where pictures are expected, or if the sound ends too",
        arguments: [(true, true, 1), (false, true, 0), (false, false, 1)])
    func soundAlone(expectsPictures: Bool, hasSound: Bool, stalls: Int) {
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
        var buffer = JitterBuffer(now: now)
        var count = 0
        for step in 0..<250 {
            let isAlone = step >= 100 && step < 200
            if step == 100 { buffer.expectPictures(expectsPictures, at: now) }
            if step == 200 { buffer.expectPictures(true, at: now) }
            let pts = Int64(step) * 20_000
            for kind in [MediaKind.audio, .video] where kind == .audio ? hasSound || !isAlone : !isAlone {
                buffer.receive(
                    MediaFrame(kind: kind, isKeyFrame: true, pts: pts, dts: pts, bytes: ByteBuffer(bytes: [1])),
                    arrival: now, at: now)
            }
            now = now + .milliseconds(20)
            buffer.handleTimeout(at: now)
            while let output = buffer.poll() {
                if case .stalled = output { count += 1 }
                if case .timeout = output { break }
            }
        }
        #expect(count == stalls)
    }

    @Test("A discontinuity is reported right before the frame that follows it")
    func placeOfDiscontinuity() throws {
        var scenario = Self.calm(seconds: 12)
        scenario.jump = (at: 9_600_000, by: 50_000_000)
        let run = PlayoutSimulation.run(scenario)
        let place = try #require(
            run.outputs.firstIndex {
                if case .discontinuity(.video, _) = $0.output { true } else { false }
            })
        guard case .release(.video, let frame, _, _)? = run.outputs[safe: place + 1]?.output else {
            Issue.record("no frame follows")
            return
        }
        #expect(frame.pts == 77_000_000 + 9_600_000 + 50_000_000)
    }

    @Test("A changed picture size is reported before its key frame")
    func sizeChange() {
        var buffer = JitterBuffer(now: .uptimeNanoseconds(0))
        buffer.setVideoParameters(VideoParameters(codec: .h264, width: 640, height: 360, frameRate: 25))
        var sizeChanges: [(UInt64, DiscontinuityReason)] = []
        for index in 0..<50 {
            if index == 25 {
                buffer.setVideoParameters(VideoParameters(codec: .h264, width: 1_280, height: 720, frameRate: 25))
            }
            let now = NIODeadline.uptimeNanoseconds(UInt64(index) * 40_000_000)
            buffer.receive(
                MediaFrame(
                    kind: .video, isKeyFrame: index % 25 == 0, pts: Int64(index) * 40_000, dts: 0,
                    bytes: ByteBuffer()),
                arrival: now)
            while let output = buffer.poll() {
                if case .timeout = output { break }
                if case .discontinuity(.video, let reason) = output {
                    sizeChanges.append((now.uptimeNanoseconds / 40_000_000, reason))
                }
            }
        }
        #expect(sizeChanges.count == 1)
        #expect(sizeChanges.first?.1 == .sizeChanged)
        // It is reported with the frame's release, not with its arrival.
        #expect((25...28).contains(sizeChanges.first?.0 ?? 0))
    }

    @Test("An outage is a stall; then play recovers, and the delay does not keep the outage's length")
    func outage() throws {
        var scenario = Self.calm(seconds: 60)
        scenario.outage = 10_000_000..<15_000_000
        let run = PlayoutSimulation.run(scenario)
        let stalls = run.times { if case .stalled = $0 { true } else { false } }
        let resumptions = run.times { if case .resumed = $0 { true } else { false } }
        #expect(stalls.count == 1)
        #expect((10_400_000...10_900_000).contains(try #require(stalls.first)))
        #expect((15_000_000...15_200_000).contains(try #require(resumptions.first)), "\(resumptions)")
        #expect(run.outOfOrder == 0)
        #expect(run.isReleasedInOrder)
        #expect(run.freezes().freezeCount == 1)
        #expect(run.delay(at: 59_000_000) < 300_000, "\(run.summary)")
        #expect(run.largestSkew(from: 16_000_000) < 80_000, "\(run.summary)")
    }

    @Test("After a lost picture nothing is released until the next key frame, which is requested")
    func lostPicture() {
        var scenario = Self.calm(seconds: 10)
        scenario.lostPictures = [70]
        let run = PlayoutSimulation.run(scenario)
        #expect(run.times { if case .lost(.video) = $0 { true } else { false } }.count == 1)
        #expect(run.times { if case .requestKeyFrame = $0 { true } else { false } }.count >= 1)
        let released = run.released.filter { $0.kind == .video }.map(\.decodingIndex)
        #expect(released.filter { (60..<100).contains($0) } == Array(60..<70) + Array(96..<100))
        #expect(run.buffer.report.skippedFrames == 25)
        #expect(run.outOfOrder == 0)
    }

    @Test("After a camera's clock stood still, playout adapts to it")
    func clockStalled() {
        var buffer = JitterBuffer(now: .uptimeNanoseconds(0))
        var shownAfter = 0
        var reasons: [DiscontinuityReason] = []
        for index in 0..<400 {
            // From the 200th picture on, all frames come 5 s later; their time line has no gap.
            let now = NIODeadline.uptimeNanoseconds(UInt64(index) * 40_000_000 + (index >= 200 ? 5_000_000_000 : 0))
            buffer.handleTimeout(at: now)
            buffer.receive(
                MediaFrame(
                    kind: .video, isKeyFrame: index % 25 == 0, pts: Int64(index) * 40_000, dts: 0,
                    bytes: ByteBuffer()),
                arrival: now)
            while let output = buffer.poll() {
                if case .timeout = output { break }
                if case .discontinuity(_, let reason) = output { reasons.append(reason) }
                if case .release(_, _, _, let isLate) = output, index > 220, !isLate { shownAfter += 1 }
            }
        }
        #expect(reasons == [.clockStalled])
        #expect(shownAfter > 170)
    }

    @Test("The number of held frames is limited; frames beyond it are decoded early and not shown")
    func bounds() {
        var options = JitterBufferOptions()
        options.maximumFrames = 20
        options.fixedDelay = .seconds(2)
        var buffer = JitterBuffer(options: options, now: .uptimeNanoseconds(0))
        var released = 0
        var late = 0
        for index in 0..<100 {
            buffer.receive(
                MediaFrame(
                    kind: .video, isKeyFrame: index == 0, pts: Int64(index) * 40_000, dts: 0, bytes: ByteBuffer()),
                arrival: .uptimeNanoseconds(UInt64(index) * 40_000_000))
            while let output = buffer.poll() {
                if case .timeout = output { break }
                if case .release(_, _, _, let isLate) = output {
                    released += 1
                    late += isLate ? 1 : 0
                }
            }
            #expect(buffer.report.heldFrames <= 20)
        }
        #expect(released >= 80)
        #expect(late > 60)
    }

    @Test("No hostile input causes a trap")
    func hostileInput() {
        var generator = SeededGenerator(seed: 9)
        for round in 0..<200 {
            var buffer = JitterBuffer(now: .uptimeNanoseconds(0))
            var now: UInt64 = 0
            for _ in 0..<100 {
                now += UInt64.random(in: 0...3_000_000_000, using: &generator)
                let edges: [Int64] = [.min, .max, 0, -1, 1 << 54, -(1 << 54), 1 << 55]
                let any =
                    Int64.random(in: .min ... .max, using: &generator) >> Int64.random(in: 0..<63, using: &generator)
                let pts = Bool.random(using: &generator) ? any : edges.randomElement(using: &generator) ?? 0
                let kind: MediaKind = Bool.random(using: &generator) ? .video : .audio
                let time = NIODeadline.uptimeNanoseconds(now)
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: buffer.frameLost(kind, at: time)
                case 1: buffer.senderReport(kind, senderMicroseconds: any, trackPts: pts, at: time)
                case 2:
                    buffer.setVideoParameters(
                        VideoParameters(
                            codec: .h265, width: Int(any % 9_000), height: 1, frameRate: Double(any),
                            reorderDepth: Int(any)))
                default:
                    buffer.receive(
                        MediaFrame(
                            kind: kind, isKeyFrame: round % 2 == 0, pts: pts, dts: pts,
                            isDiscontinuity: any % 7 == 0, bytes: ByteBuffer(integer: any)),
                        arrival: time)
                }
                buffer.handleTimeout(at: time)
                var outputs = 0
                while let output = buffer.poll() {
                    if case .timeout(let next) = output {
                        _ = next
                        break
                    }
                    outputs += 1
                }
                #expect(outputs < 1_000)
            }
            buffer.flush(at: .uptimeNanoseconds(now))
        }
    }

    @Test("A timeout that is handled on time is followed by a later one")
    func timeoutsAdvance() {
        var buffer = JitterBuffer(now: .uptimeNanoseconds(0))
        for index in 0..<5 {
            let kind: MediaKind = index % 2 == 0 ? .video : .audio
            buffer.receive(
                MediaFrame(kind: kind, isKeyFrame: true, pts: Int64(index) * 20_000, dts: 0, bytes: ByteBuffer()),
                arrival: .uptimeNanoseconds(UInt64(index) * 20_000_000))
        }
        var last = NIODeadline.uptimeNanoseconds(0)
        var steps = 0
        while let output = buffer.poll(), steps < 1_000 {
            guard case .timeout(let time) = output else { continue }
            #expect(time > last)
            last = time
            buffer.handleTimeout(at: time)
            steps += 1
        }
        #expect(steps < 200, "the number of steps is limited")
    }
}
