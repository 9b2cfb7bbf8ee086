import Testing

@testable import MediaChannel

/// All times are µs.
@Suite struct ViewerClockTests {
    private let second: Int64 = 1_000_000

    @Test("The past is compressed into the moment before the live edge; then the clock runs as the source's")
    func start() {
        var clock = ViewerClock()
        clock.begin(start: 10 * second, edge: 20 * second)
        // Ten seconds at 25 per second: each is later than the one before, all within 0.16 s.
        let past = stride(from: 10 * second, through: 20 * second, by: 40_000).map(clock.place)
        #expect(zip(past, past.dropFirst()).allSatisfy { $0 < $1 })
        #expect(past.first == 20 * second - 156_250 && past.last == 20 * second)
        // Far enough apart to have different times on RTP's 90 kHz clock.
        #expect(zip(past, past.dropFirst()).allSatisfy { $1 - $0 >= 600 })
        for later: Int64 in [1, 40_000, 3600 * second] {
            #expect(clock.place(20 * second + later) == 20 * second + later)
        }
    }

    @Test("Sound is never compressed, even if it lags slightly behind the picture at the start")
    func sound() {
        var clock = ViewerClock()
        clock.begin(start: 10 * second, edge: 20 * second)
        let times = stride(from: 20 * second - 100_000, through: 21 * second, by: 20_000).map(clock.placeSound)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == 20_000 })
        #expect(clock.placeSound(20 * second) == clock.place(20 * second))
    }

    @Test("A jump of the source's clock becomes the time that passed, for sound and picture alike")
    func jump() {
        var clock = ViewerClock()
        clock.begin(start: 0, edge: second)
        // A round ends at 8 s; the next starts 5 s after it, 40 ms later in real time.
        clock.jump(to: 13 * second, expected: 8 * second + 40_000)
        #expect(clock.place(8 * second) == 8 * second)
        #expect(clock.place(13 * second) == 8 * second + 40_000)
        // The previous round's sound ends slightly after its picture; the new round's sound starts before its picture.
        #expect(clock.placeSound(8 * second + 100_000) == 8 * second + 100_000)
        #expect(clock.placeSound(13 * second - 20_000) == 8 * second + 20_000)
        #expect(clock.live(14 * second) == 9 * second + 40_000)
        // Again, also for a viewer that joins then.
        clock.jump(to: 26 * second, expected: 21 * second + 40_000)
        #expect(clock.place(26 * second) == 16 * second + 80_000)
        #expect(clock.place(13 * second) == 8 * second + 40_000, "retransmitted packets keep their time")
    }

    @Test("A viewer that restarts gets no time before its newest", arguments: [0, 10_000, 100_000, 5_000_000])
    func again(pause: Int64) {
        var clock = ViewerClock()
        clock.begin(start: 0, edge: 5 * second)
        let last = 9 * second
        let had = clock.place(last)
        clock.begin(start: second, edge: last + pause, after: last)
        let times = stride(from: second, through: last + pause, by: 40_000).map(clock.place)
        #expect(times[0] > had)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        // The additional delay stays small.
        #expect(clock.live(last) - last <= 200_000)
    }

    @Test("If the source's clock goes back, the browser's does not")
    func backwards() {
        var clock = ViewerClock()
        clock.begin(start: 100 * second, edge: 101 * second)
        clock.jump(to: 0, expected: 110 * second)
        #expect(clock.place(0) == 110 * second)
        #expect(clock.place(second) == 111 * second)
    }

    @Test("However often a clip restarts, the clock continues and its history stays limited")
    func rounds() {
        var clock = ViewerClock()
        clock.begin(start: 0, edge: 0)
        var pts: Int64 = 0
        var expected: Int64 = 0
        for _ in 0..<1000 {
            #expect(clock.place(pts) == expected)
            pts += 8 * second
            expected += 8 * second
            #expect(clock.place(pts) == expected)
            clock.jump(to: pts + 5 * second, expected: pts + 40_000)
            pts += 5 * second
            expected += 40_000
        }
    }
}
