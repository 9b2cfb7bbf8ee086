import IoTCore
import NIOCore
import Testing

@testable import MediaPlayer

@Suite struct PacedPlayoutTests {
    private let start = NIODeadline.uptimeNanoseconds(5_000_000_000)

    private func picture(_ index: Int64, dts: Int64? = nil) -> MediaFrame {
        MediaFrame(
            kind: .video, isKeyFrame: index % 10 == 0, pts: dts ?? index * 40_000, dts: dts ?? index * 40_000,
            bytes: ByteBuffer(repeating: 0, count: 100))
    }

    private func playout(start pts: Int64 = 0) -> PacedPlayout {
        PacedPlayout(video: VideoParameters(codec: .h264), start: pts, now: start)
    }

    /// The outputs up to `end`.
    private func drain(_ playout: inout PacedPlayout, until end: NIODeadline) throws -> [PlayoutOutput] {
        var outputs: [PlayoutOutput] = []
        var steps = 0
        while let output = playout.poll() {
            guard case .timeout(let deadline) = output else {
                outputs.append(output)
                continue
            }
            guard deadline <= end else { break }
            playout.handleTimeout(at: deadline)
            steps += 1
            try #require(steps < 10_000)
        }
        playout.handleTimeout(at: end)
        return outputs
    }

    private func shown(_ outputs: [PlayoutOutput]) -> [Int64] {
        outputs.compactMap { if case .release(_, let frame, _, false) = $0 { frame.pts } else { nil } }
    }

    @Test("A frame far beyond the requested range is lost, and delays no frame after it")
    func farAhead() throws {
        var playout = playout()
        for index in 0..<20 as Range<Int64> {
            let hours: Int64 = 3_600_000_000
            playout.receive(picture(index, dts: index == 5 ? 5 * hours : nil), generation: 0, at: start)
        }
        let outputs = try drain(&playout, until: start + .seconds(1))
        #expect(outputs.contains { if case .lost(.video) = $0 { true } else { false } })
        // Pictures that reference the lost one are not shown.
        #expect(shown(outputs) == [0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19].map { $0 * 40_000 })
    }

    @Test(
        "Extreme times are played or refused",
        arguments: [Int64.max, .min, 1 << 54, -1 << 54])
    func extremes(pts: Int64) throws {
        var playout = playout(start: pts)
        for rate in [0.125, 1, 32] {
            playout.setRate(rate, at: start)
            for frame in [picture(0), picture(0, dts: pts), picture(1)] {
                playout.receive(frame, generation: 0, at: start)
            }
            playout.pause(at: start)
            playout.resume(at: start)
            _ = try drain(&playout, until: start + .seconds(1))
            _ = playout.position(at: .distantFuture)
        }
    }

    @Test("The number of held frames is limited, even if many come unrequested")
    func bounded() throws {
        var playout = playout()
        playout.pause(at: start)
        for index in 0..<5_000 as Range<Int64> {
            playout.receive(picture(index, dts: 1_000 + index), generation: 0, at: start)
        }
        playout.resume(at: start)
        // The pause shows one more.
        #expect(try shown(drain(&playout, until: start + .seconds(1))).count == 4_097)
    }

    @Test("A source without frames finishes at once; after a seek past the end, play finishes at the end")
    func empty() throws {
        var playout = playout()
        playout.complete(generation: 0, at: start)
        let outputs = try drain(&playout, until: start + .seconds(1))
        #expect(outputs.count { if case .finished = $0 { true } else { false } } == 1)
        playout.seek(to: 90_000_000, generation: 1, at: start + .seconds(1))
        playout.complete(generation: 0, at: start + .seconds(1))
        #expect(
            try !drain(&playout, until: start + .seconds(2)).contains { if case .finished = $0 { true } else { false } }
        )
        playout.complete(generation: 1, at: start + .seconds(2))
        #expect(
            try drain(&playout, until: start + .seconds(3)).contains { if case .finished = $0 { true } else { false } })
    }
}
