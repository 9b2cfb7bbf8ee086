import TestSupport
import Testing

@testable import RTP

@Suite struct RTPClockTests {
    @Test(
        "µs converted to ticks and back differ by less than a tick, also µs since 1970 and negative ones",
        arguments: [8_000, 22_050, 44_100, 48_000, 90_000])
    func roundTrip(rate: Int) {
        let clock = RTPClock(rate: rate)
        var random = SeededGenerator(seed: UInt64(rate))
        for magnitude: Int64 in [1_000, 1_000_000_000, 1_700_000_000_000_000, 4_000_000_000_000_000_000] {
            for _ in 0..<200 {
                let time = Int64.random(in: -magnitude...magnitude, using: &random)
                let back = clock.microseconds(ofTicks: clock.ticks(ofMicroseconds: time))
                #expect(abs(back - time) <= 1_000_000 / Int64(rate) / 2 + 1)
            }
        }
        #expect(clock.ticks(ofMicroseconds: 3_600_000_000) == Int64(rate) * 3_600)
    }

    @Test("A counter is unwrapped in both directions")
    func unwrapping() {
        var sequence = SequenceUnwrapper<UInt16>()
        #expect(sequence.unwrap(65_534) == 65_534)
        #expect(sequence.unwrap(1) == 65_537)
        #expect(sequence.unwrap(65_535) == 65_535)
        #expect(sequence.peek(32_766) == 98_302)
        var timestamps = SequenceUnwrapper<UInt32>()
        #expect(timestamps.unwrap(5) == 5)
        #expect(timestamps.unwrap(0xFFFF_FFFF) == -1)
        #expect(timestamps.unwrap(0x8000_0000) == -0x8000_0000)
        #expect(timestamps.unwrap(0x7FFF_FFFF) == -0x8000_0001)
    }
}
