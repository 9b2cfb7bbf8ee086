import Testing

@testable import MediaPlayer

@Suite struct SenderClockTests {
    @Test("Frames on either side of a jump use their own side's report, whichever comes first")
    func jump() {
        var clock = SenderClock()
        #expect(clock.senderTime(pts: 0) == nil)
        clock.report(pts: 1_000_000, offset: 50_000_000)
        #expect(clock.senderTime(pts: 900_000) == 50_900_000)
        #expect(clock.senderTime(pts: -9_000_000) == 41_000_000, "a burst is older than its report")
        #expect(clock.senderTime(pts: 6_100_000) == nil, "the new clock has no report yet")
        clock.report(pts: 6_200_000, offset: 45_000_000)
        #expect(clock.senderTime(pts: 1_100_000) == 51_100_000, "a held frame of the old clock")
        #expect(clock.senderTime(pts: 6_300_000) == 51_300_000)
    }

    @Test("Reports of one clock keep the frames' distances exactly")
    func steady() {
        var clock = SenderClock()
        clock.report(pts: 0, offset: 1_000)
        clock.report(pts: 1_000_000, offset: 1_009)
        #expect(clock.senderTime(pts: 1_040_000) == 1_041_000)
    }
}
