import MediaPlayer
import Testing

@Suite struct SkewMeterTests {
    @Test("The picture's delay is positive, its lead negative; the largest magnitude is kept")
    func sign() {
        var meter = SkewMeter()
        meter.pictureShown(sender: 0, presented: 0)
        #expect(meter.last == nil)
        for index in 0..<100 {
            meter.soundHeard(sender: Int64(index) * 20_000, presented: 500_000 + Int64(index) * 20_000)
        }
        meter.pictureShown(sender: 1_000_000, presented: 1_530_000)
        #expect(meter.last == 30_000)
        meter.pictureShown(sender: 1_040_000, presented: 1_530_000)
        #expect(meter.last == -10_000)
        #expect(meter.maximum == 30_000)
    }

    @Test("A picture reported before its sound is compared when the sound is known")
    func order() {
        var meter = SkewMeter()
        meter.soundHeard(sender: 0, presented: 100_000)
        meter.pictureShown(sender: 40_000, presented: 145_000)
        #expect(meter.last == nil)
        meter.soundHeard(sender: 50_000, presented: 150_000)
        #expect(meter.last == 5_000)
    }

    @Test("While no sound is heard there is no skew")
    func hole() {
        var meter = SkewMeter()
        meter.soundHeard(sender: 0, presented: 100_000)
        meter.pictureShown(sender: 40_000, presented: 300_000)
        meter.soundHeard(sender: 20_000, presented: 500_000)
        #expect(meter.last == nil)
    }
}
