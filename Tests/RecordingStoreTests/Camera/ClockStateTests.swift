import Testing

@testable import RecordingStore

@Suite struct ClockStateTests {
    @Test("The clocks of each frame are the machine's, and only go forward")
    func now() {
        var last = ClockState.now().now
        for _ in 0..<100_000 {
            let before = Moment.now()
            let found = ClockState.now().now
            let after = Moment.now()
            #expect((before.monotonic...after.monotonic).contains(found.monotonic))
            // The machine may stop the test between any two of these.
            #expect((before.wall - 50_000...after.wall + 50_000).contains(found.wall))
            #expect(found.monotonic >= last.monotonic)
            last = found
        }
        #expect(ClockState.now().isSynchronised == ClockState.isSynchronised())
    }
}
