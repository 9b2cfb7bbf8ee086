import Testing

@testable import MediaCodec

@Suite("Times of captured pictures")
struct CaptureClockTests {
    @Test("The driver's stamps are used unless they are absent, in the future or old; times always increase")
    func clock() {
        var clock = CaptureClock()
        for (stamp, now, expected) in [
            (9_900_000, 10_000_000, 9_900_000), (9_933_333, 10_040_000, 9_933_333),
            // No stamp of this clock.
            (nil, 10_080_000, 10_080_000),
            // Earlier than the previous picture.
            (10_010_000, 10_110_000, 10_080_001),
            // In the future, old, and negative.
            (99_000_000, 10_150_000, 10_150_000), (12, 10_190_000, 10_190_000), (-5, 10_230_000, 10_230_000),
            (10_250_000, 10_260_000, 10_250_000),
        ] as [(Int64?, Int64, Int64)] {
            #expect(clock.place(stamp, now: now) == expected)
        }
    }

    @Test(
        "Pictures are admitted up to the rate, for every rate of the device",
        arguments: [
            // The device's pictures per second, the rate, and the number of admitted pictures in 10 s.
            (30.0, 30.0, 298...300), (60, 30, 298...301), (1_000, 30, 290...401), (15, 30, 149...150),
            (25, 30, 249...250),
        ])
    func rate(device: Double, rate: Double, admitted: ClosedRange<Int>) {
        var limit = PictureRate(rate)
        var generator = SystemRandomNumberGenerator()
        let count = (0..<Int(10 * device)).count { index in
            // Jitter of a tenth of the interval.
            let jitter = Double.random(in: -0.05...0.05, using: &generator)
            return limit.admits(Int64((Double(index) + jitter) * 1_000_000 / device))
        }
        #expect(admitted.contains(count), "\(count)")
    }
}
