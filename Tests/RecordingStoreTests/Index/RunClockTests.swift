import Foundation
import TestSupport
import Testing

@testable import RecordingStore

@Suite("The wall times of frames", .timeLimit(.minutes(2)))
struct RunClockTests {
    private let wall: Int64 = 1_764_000_000_000_000

    /// - Parameters:
    ///   - rate: how fast the camera's clock runs.
    ///   - interval: between two frames, in µs of real time.
    /// - Returns: The largest error of the start of a fragment, in µs, and the number of runs.
    private func record(hours: Int, rate: Double, interval: Int64, seed: UInt64) -> (worst: Int64, runs: Int) {
        var random = SeededGenerator(seed: seed)
        var clock = RunClock(boot: "b")
        var worst: Int64 = 0
        var runs = 0
        var arrived: Int64 = 0
        for frame in 0..<Int64(hours) * 3_600_000_000 / interval {
            let sent = frame * interval
            // Most frames come soon, some are late, and the network keeps their order.
            let delay =
                Int64(-12_000 * log(Double.random(in: 0.000_001...1, using: &random)))
                + (Int.random(in: 0..<200, using: &random) == 0 ? 250_000 : 0)
            arrived = max(arrived, sent + min(delay, 400_000))
            let media = 77_000_000_000 + Int64(Double(sent) * rate)
            let now = Moment(monotonic: 500_000_000 + arrived, wall: wall + arrived)
            switch clock.take(frame: media, now: now, isSynchronised: true) {
            case .begin: runs += 1
            case .continue(let time):
                if frame % 20 == 0, frame > 200 { worst = max(worst, abs(time - (wall + sent))) }
            }
        }
        return (worst, runs)
    }

    @Test(
        "After 24 hours of a wrong camera clock, wall times are right within 100 ms",
        arguments: [(1.0005, 200_000), (0.9995, 200_000), (0.8, 200_000), (1.25, 200_000)] as [(Double, Int64)])
    func drift(rate: Double, interval: Int64) {
        let (worst, runs) = record(hours: 24, rate: rate, interval: interval, seed: UInt64(rate * 10_000))
        #expect(worst <= 100_000, "\(worst) µs")
        #expect(runs == 1)
        print("wall time: camera clock × \(rate): largest error \(worst) µs in 24 h")
    }

    @Test("A camera that stamps 25 and delivers 20 pictures a second has one run and right times")
    func wrongRate() {
        let (worst, runs) = record(hours: 1, rate: 0.8, interval: 50_000, seed: 9)
        #expect(worst <= 100_000 && runs == 1, "\(worst) µs")
    }

    @Test("A clock that is set begins a run, in both directions; less than two seconds do not")
    func steps() {
        var clock = RunClock(boot: "b")
        var now = Moment(monotonic: 60_000_000, wall: 1_000_000_000)
        var media: Int64 = 0
        var verdicts: [RunFacts?] = []
        func next(_ offset: Int64, _ isSynchronised: Bool) {
            now.monotonic += 1_000_000
            now.wall += 1_000_000 + offset
            media += 1_000_000
            if case .begin(let facts, let time) = clock.take(frame: media, now: now, isSynchronised: isSynchronised) {
                #expect(time == now.wall)
                verdicts.append(facts)
            } else {
                verdicts.append(nil)
            }
        }
        next(0, false)
        next(0, false)
        // Fifty-six years, one minute after the start.
        next(wall, true)
        next(1_900_000, true)
        next(-3_600_000_000, true)
        next(0, true)
        #expect(verdicts.map { $0?.previousEnd } == [.stopped, nil, .clockStep, nil, .clockStep, nil])
        #expect(verdicts[0]?.quality == .unsynchronised && verdicts[2]?.quality == .synchronised)
    }

    @Test("A jump of the camera's clock begins a run")
    func jumps() {
        var clock = RunClock(boot: "b")
        let now = Moment(monotonic: 60_000_000, wall: wall)
        func reason(_ media: Int64, after seconds: Int64, isBreak: Bool = false) -> RunEnd? {
            let moment = Moment(monotonic: now.monotonic + seconds * 1_000_000, wall: now.wall + seconds * 1_000_000)
            if case .begin(let facts, _) = clock.take(
                frame: media, now: moment, isSynchronised: true, isBreak: isBreak)
            {
                return facts.previousEnd
            }
            return nil
        }
        #expect(reason(0, after: 0) == .stopped)
        #expect(reason(1_000_000, after: 1) == nil)
        #expect(reason(9_000_000_000_000, after: 2) == .mediaJump)
        #expect(reason(9_000_001_000_000, after: 3) == nil)
        #expect(reason(5, after: 4) == .mediaJump)
        #expect(reason(1_000_005, after: 5, isBreak: true) == .mediaJump)
    }
}
