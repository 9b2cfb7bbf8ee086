import MediaPlayer
import Testing

@Suite struct RateMeterTests {
    @Test("The rate of a steady stream is measured, and is 0 two seconds after its end")
    func steady() {
        var meter = RateMeter()
        for index in 0..<250 { meter.add(bytes: 20_000, at: Int64(index) * 40_000) }
        let firstRate = meter.bitsPerSecond(at: 9_999_000)
        #expect(abs(firstRate - 4_000_000) < 200_000)
        let secondRate = meter.bitsPerSecond(at: 20_000_000)
        #expect(secondRate == 0)
    }

    @Test("A new stream is not measured over the time before its start")
    func young() {
        var meter = RateMeter()
        for index in 0..<10 { meter.add(bytes: 20_000, at: 5_000_000 + Int64(index) * 40_000) }
        let rate = meter.bitsPerSecond(at: 5_399_000)
        #expect(abs(rate - 4_000_000) < 10_000)
    }
}
