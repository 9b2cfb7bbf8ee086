import MediaPlayer
import Testing

@Suite struct FreezeMeterTests {
    /// W3C webrtc-stats, `freezeCount`: max(3δ, δ + 150 ms), δ the average interval of the last 30 frames.
    @Test(
        "A gap counts as a freeze if it exceeds both limits",
        arguments: [
            (40, 190, false), (40, 191, true), (100, 300, false), (100, 301, true), (10, 160, false), (10, 161, true),
        ] as [(Int64, Int64, Bool)])
    func bounds(interval: Int64, gap: Int64, isFreeze: Bool) {
        var meter = FreezeMeter()
        var now: Int64 = 0
        for _ in 0..<40 {
            meter.frameShown(at: now)
            now += interval * 1_000
        }
        meter.frameShown(at: now - interval * 1_000 + gap * 1_000)
        #expect(meter.freezeCount == (isFreeze ? 1 : 0))
        #expect(meter.totalFreezesMicroseconds == (isFreeze ? gap * 1_000 : 0))
    }

    @Test("A pause is not a freeze")
    func pause() {
        var meter = FreezeMeter()
        for index in 0..<40 { meter.frameShown(at: Int64(index) * 40_000) }
        meter.pause()
        meter.frameShown(at: 60_000_000)
        meter.frameShown(at: 60_040_000)
        #expect(meter.freezeCount == 0)
        #expect(abs(meter.framesPerSecond - 25) < 0.1)
    }
}
