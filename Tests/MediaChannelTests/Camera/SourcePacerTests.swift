import NIOCore
import Testing

@testable import MediaChannel

@Suite struct SourcePacerTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    @Test("Frames are due at the pace of their decoding times, whatever time reading takes")
    func pace() {
        var pacer = SourcePacer()
        #expect(pacer.due(dts: 500, now: start) == start)
        #expect(pacer.due(dts: 40_500, now: start + .milliseconds(3)) == start + .milliseconds(40))
        #expect(pacer.due(dts: 80_500, now: start + .milliseconds(41)) == start + .milliseconds(80))
    }

    @Test("A jump of the clock starts a new schedule at once")
    func jump() {
        var pacer = SourcePacer()
        _ = pacer.due(dts: 0, now: start)
        let later = start + .milliseconds(40)
        #expect(pacer.due(dts: 6_000_000, now: later) == later)
        #expect(pacer.due(dts: 6_040_000, now: later) == later + .milliseconds(40))
    }

    @Test("After a pause of the machine, missed time is not sent in a burst")
    func pause() {
        var pacer = SourcePacer()
        _ = pacer.due(dts: 0, now: start)
        let later = start + .seconds(60)
        #expect(pacer.due(dts: 40_000, now: later) == later)
    }
}
