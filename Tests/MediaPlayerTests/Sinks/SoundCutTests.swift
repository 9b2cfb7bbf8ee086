import NIOCore
import Testing

@testable import MediaPlayer

/// Sound of 30 ms beside pictures of 100 ms.
@Suite struct SoundCutTests {
    private func time(_ milliseconds: Int64) -> NIODeadline {
        .uptimeNanoseconds(1_000_000_000) + .milliseconds(milliseconds)
    }

    /// What is given out when pictures come `delay` ms behind the sound of their time.
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

    @Test("It is the sound until the last picture was there for its time, however late the decoder is with pictures")
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

    @Test("Without a frame rate the last picture stays as long as the one before it, and a lone one 40 ms")
    func unknownRate() {
        #expect(sounds(pictures: 3, frameRate: 0, delay: 0).last == 270)
        #expect(sounds(pictures: 1, frameRate: 0, delay: 0) == [-30, 0, 30])
    }

    @Test("Sound that stops is not waited for, and pictures that stop hold no more than a bound")
    func oneTrackStops() {
        var silent = SoundCut<Int>(pictures: 2, frameRate: 10)
        #expect(silent.take(1, presentAt: time(0)) == [])
        #expect(silent.pass(pictureAt: time(0)) == [])
        #expect(silent.pass(pictureAt: time(100)) == [1])
        #expect(silent.pass(pictureAt: time(600)) == [] && !silent.isOver)
        #expect(silent.pass(pictureAt: time(700)) == [] && silent.isOver)
        #expect(silent.take(2, presentAt: time(0)) == [], "what comes behind the end is not heard")

        var blind = SoundCut<Int>(pictures: 2, frameRate: 10)
        let count = SoundCut<Int>.limit + 20
        let early = (0..<count).flatMap { blind.take($0, presentAt: time(Int64($0))) }
        #expect(early == Array(0..<20))
        #expect(blind.finish() == Array(20..<count) && blind.isOver)
    }
}
