import Testing

@testable import RTSP

@Suite struct TrackClockTests {
    private static let rate = 90_000

    /// Places pictures. Each is `step` ticks later than the previous one, and arrives `interval` µs later.
    private func run(
        _ clock: inout TrackClock, from start: (ticks: Int64, arrival: Int64), count: Int, step: Int64, interval: Int64
    ) -> [TrackClock.Placement] {
        (0..<Int64(count)).map { clock.place(ticks: start.ticks + $0 * step, arrival: start.arrival + $0 * interval) }
    }

    @Test("The first frame gets the time of its arrival, and later frames follow the camera's clock")
    func steady() {
        var clock = TrackClock(rate: Self.rate)
        #expect(clock.place(ticks: 5_000_000_000, arrival: 100_000) == .init(time: 100_000, isDiscontinuity: false))
        // Late arrivals change nothing.
        #expect(clock.place(ticks: 5_000_003_600, arrival: 900_000) == .init(time: 140_000, isDiscontinuity: false))
        // A picture that is presented before the previous one.
        #expect(clock.place(ticks: 5_000_001_800, arrival: 901_000).time == 120_000)
        #expect(clock.time(ofTicks: 5_000_003_600) == 140_000)
    }

    @Test(
        "After a jump in either direction, the time continues with the arrival",
        arguments: [1 << 40, -(1 << 40), 2_000_000])
    func jump(by ticks: Int64) {
        var clock = TrackClock(rate: Self.rate)
        let before = run(&clock, from: (0, 0), count: 50, step: 3_600, interval: 40_000)
        let after = run(&clock, from: (50 * 3_600 + ticks, 2_000_000), count: 50, step: 3_600, interval: 40_000)
        let times = (before + after).map(\.time)
        #expect(times == (0..<100).map { $0 * 40_000 })
        #expect(clock.jumps == 1 && !after.contains { $0.isDiscontinuity })
    }

    @Test("Numbers at the ends of the range do not trap")
    func extremes() {
        var clock = TrackClock(rate: 1)
        for ticks in [0, .max, .min, .max / 2, .min / 2, 1] as [Int64] {
            _ = clock.place(ticks: ticks, arrival: 0)
            _ = clock.time(ofTicks: .min)
        }
    }

    @Test("A clock that runs 20 % slow, or fast, is scaled to real time", arguments: [2_880, 4_500])
    func wrongRate(step: Int64) {
        var clock = TrackClock(rate: Self.rate)
        let placements = run(&clock, from: (0, 0), count: 25 * 60, step: step, interval: 40_000)
        // Until the rate is known, the error is less than 20 % or 25 % of two windows.
        for (index, placement) in placements.enumerated() {
            #expect(abs(placement.time - Int64(index) * 40_000) <= 5_000_000)
        }
        let late = placements.suffix(25 * 30)
        let drift = late.enumerated().map { abs($1.time - Int64(placements.count - late.count + $0) * 40_000) }
        let spread = (drift.max() ?? 0) - (drift.min() ?? 0)
        #expect(spread < 50_000, "\(spread) µs in 30 s")
        #expect(placements.count { $0.isDiscontinuity } == (step < 3_600 ? 1 : 0))
    }

    @Test("A stall and the burst after it do not change the rate")
    func stall() {
        var clock = TrackClock(rate: Self.rate)
        var times: [Int64] = []
        for index in 0..<(25 * 60) as Range<Int64> {
            let due = index * 40_000
            // In one of 20 seconds, all pictures arrive together at the end.
            let arrival = (due / 1_000_000) % 20 == 7 ? (due / 1_000_000 + 1) * 1_000_000 : due
            times.append(clock.place(ticks: index * 3_600, arrival: arrival).time)
        }
        #expect(times == (0..<(25 * 60)).map { $0 * 40_000 })
    }

    @Test("A crystal's error is not scaled")
    func drift() {
        var clock = TrackClock(rate: Self.rate)
        let placements = run(&clock, from: (0, 0), count: 25 * 60, step: 3_600, interval: 40_004)
        #expect(placements.map(\.time) == (0..<(25 * 60)).map { $0 * 40_000 })
    }
}
