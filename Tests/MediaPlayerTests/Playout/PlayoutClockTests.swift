import Testing

@testable import MediaPlayer

@Suite struct PlayoutClockTests {
    @Test("The delay rises at once and falls no faster than the rate")
    func slew() {
        var clock = PlayoutClock(anchor: 100_000, rate: 0.05, at: 0)
        clock.setTarget(150_000)
        #expect(clock.anchor == 150_000)
        clock.setTarget(100_000)
        clock.advance(to: 500_000)
        #expect(clock.anchor == 125_000)
        clock.advance(to: 5_000_000)
        #expect(clock.anchor == 100_000)
    }

    @Test("A presentation time given in advance is the time at which the line arrives there")
    func foretells() {
        var clock = PlayoutClock(anchor: 1_000_000, rate: 7, at: 0)
        clock.setTarget(200_000)
        for sender in stride(from: Int64(0), through: 2_000_000, by: 40_000) {
            let due = clock.presentTime(of: sender)
            var later = clock
            later.advance(to: due)
            #expect(abs(sender + later.anchor - due) < 20)
        }
    }

    @Test("Presentation times keep the order of sender times while the line falls")
    func order() {
        var clock = PlayoutClock(anchor: 9_000_000, rate: 31, at: 0)
        clock.setTarget(0)
        var last = Int64.min
        for index in 0..<400 {
            let due = clock.presentTime(of: Int64(index) * 40_000)
            #expect(due > last)
            last = due
        }
    }
}
