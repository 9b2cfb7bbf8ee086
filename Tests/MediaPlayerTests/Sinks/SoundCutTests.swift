import NIOCore
import Testing

@testable import MediaPlayer

/// Tests sound of 30 ms with pictures of 100 ms.
@Suite struct SoundCutTests {
    private func time(_ milliseconds: Int64) -> NIODeadline {
        .uptimeNanoseconds(1_000_000_000) + .milliseconds(milliseconds)
    }

    /// The sound that is returned if pictures come `delay` ms after the sound of the same time.
    private func sounds(pictures: Int, frameRate: Double, delay: Int64) -> [Int64] {
        var cut = SoundCut<Int64>(pictures: pictures, frameRate: frameRate)
        var written: [Int64] = []
        for now in stride(from: Int64(-30), to: 3_000, by: 10) where !cut.isOver {
            if now % 30 == 0 { written += cut.take(now, presentAt: time(now)) }
            if now - delay >= 0, (now - delay) % 100 == 0 { written += cut.pass(pictureAt: time(now - delay)) }
        }
        #expect(cut.isOver)
        return written
    }

    @Test("The sound lasts until the last picture has been shown for its duration, however late pictures are decoded")
    func length() {
        for (pictures, end) in [(1, 100), (5, 500), (7, 700)] as [(Int, Int64)] {
            for delay in [0, 40, 350] as [Int64] {
                #expect(
                    sounds(pictures: pictures, frameRate: 10, delay: delay)
                        == Array(stride(from: -30, to: end, by: 30)),
                    "\(pictures) pictures, \(delay) ms late")
            }
        }
    }

    @Test("Without a frame rate the last picture is shown as long as the one before it, and a single one for 40 ms")
    func unknownRate() {
        #expect(sounds(pictures: 3, frameRate: 0, delay: 0).last == 270)
        #expect(sounds(pictures: 1, frameRate: 0, delay: 0) == [-30, 0, 30])
    }

    @Test("Sound that stops is not waited for, and if pictures stop, the held sound stays limited")
    func oneTrackStops() {
        var silent = SoundCut<Int>(pictures: 2, frameRate: 10)
        #expect(silent.take(1, presentAt: time(0)) == [])
        #expect(silent.pass(pictureAt: time(0)) == [])
        #expect(silent.pass(pictureAt: time(100)) == [1])
        #expect(silent.pass(pictureAt: time(600)) == [] && !silent.isOver)
        #expect(silent.pass(pictureAt: time(700)) == [] && silent.isOver)
        #expect(silent.take(2, presentAt: time(0)) == [], "sound after the end is not heard")

        var blind = SoundCut<Int>(pictures: 2, frameRate: 10)
        let count = SoundCut<Int>.limit + 20
        let early = (0..<count).flatMap { blind.take($0, presentAt: time(Int64($0))) }
        #expect(early == Array(0..<20))
        #expect(blind.finish() == Array(20..<count) && blind.isOver)
    }
}
