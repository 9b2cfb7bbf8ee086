import Testing

@testable import MediaChannel

@Suite struct CallerClockTests {
    @Test("The first frame has the time of its arrival; the others keep their distances, also those that come early")
    func distances() {
        var clock = CallerClock()
        // In the order of decoding, with pictures that are shown before earlier ones; the first come at once.
        let frames: [(pts: Int64, arrival: Int64)] = [
            (900_000_000, 50_000), (900_006_000, 50_100), (900_002_000, 50_200), (900_004_000, 50_300),
            (900_126_000, 90_000), (900_046_000, 130_000),
        ]
        let placed = frames.map { clock.place($0.pts, arrival: $0.arrival) }
        #expect(placed.map { $0.pts - 50_000 } == frames.map { $0.pts - 900_000_000 })
        #expect(placed.allSatisfy { !$0.hasJumped })
    }

    @Test(
        "A caller's clock that runs 100 ppm slower or faster, or whose first frame came 200 ms late, is followed for hours",
        arguments: [(0.999_9, 0), (1.000_1, 0), (1, 200_000)] as [(Double, Int64)])
    func drift(speed: Double, lateness: Int64) {
        var clock = CallerClock()
        var last = Int64.min
        // Pictures every 40 ms; on their way 5 to 45 ms.
        for index in 0..<Int64(4 * 3_600 * 25) {
            let sent = index * 40_000
            let arrival = sent + 5_000 + (index * 7_919) % 40_000 + (index == 0 ? lateness : 0)
            let (pts, hasJumped) = clock.place(Int64(Double(sent) * speed), arrival: arrival)
            let isSettled = sent > (lateness == 0 ? 60_000_000 : 10_000_000)
            guard !hasJumped, pts > last, !isSettled || abs(sent + 5_000 - pts) < 5_000 else {
                Issue.record("after \(sent / 1_000_000) s \(pts - sent) µs")
                return
            }
            last = pts
        }
    }

    @Test("A clock that has jumped is followed, in both directions, and the jump reported once")
    func jumps() {
        var clock = CallerClock()
        _ = clock.place(1_000, arrival: 0)
        #expect(clock.place(1_000 + 3_000_000, arrival: 40_000) == (40_000, true))
        #expect(clock.place(1_000 + 3_040_000, arrival: 80_000) == (80_000, false))
        #expect(clock.place(5, arrival: 3_000_000) == (3_000_000, true))
        #expect(clock.place(.max, arrival: 3_040_000).hasJumped)
        for pts in [Int64.min, 0, .max] {
            #expect(abs(clock.place(pts, arrival: 3_080_000).pts - 3_080_000) <= 2_000_000)
        }
    }
}
