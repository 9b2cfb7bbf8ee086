import Testing

@testable import MediaChannel

@Suite struct CallerClockTests {
    @Test("The frame that took the least time on its way has the time of its arrival; the others keep their distance")
    func leastDelay() {
        var clock = CallerClock()
        let frames: [(pts: Int64, arrival: Int64, placed: Int64)] = [
            (900_000_000, 50_000, 50_000), (900_040_000, 85_000, 85_000), (900_080_000, 190_000, 125_000),
            (900_120_000, 190_000, 165_000), (900_160_000, 204_000, 204_000), (900_200_000, 249_000, 244_000),
        ]
        for frame in frames {
            let (pts, hasJumped) = clock.place(frame.pts, arrival: frame.arrival)
            #expect(pts == frame.placed && !hasJumped && pts <= frame.arrival)
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
        for pts in [Int64.min, 0, .max] { #expect(clock.place(pts, arrival: 3_080_000).pts <= 3_080_000) }
    }
}
