import Foundation
import NIOCore
import TestSupport
import Testing

@testable import MediaCodec

/// All in virtual time.
@Suite struct SpeechPacerTests {
    private static let start = NIODeadline.uptimeNanoseconds(5_000_000_000)
    private static let amplitude = 16_000.0

    /// A sine of any length.
    private struct Sine {
        /// Radians a sample.
        let step: Double
        private(set) var count = 0

        init(frequency: Double, sampleRate: Int) {
            step = 2 * .pi * frequency / Double(sampleRate)
        }

        mutating func next(_ length: Int) -> [Int16] {
            defer { count += length }
            return (count..<count + length).map { Int16((amplitude * sin(step * Double($0))).rounded()) }
        }

        /// The largest second difference of the sine itself.
        var curvature: Double { amplitude * step * step }
    }

    private func next(_ pacer: inout SpeechPacer) throws -> SpeechPacer.Frame {
        let frame = pacer.nextFrame(at: pacer.nextDue)
        return try #require(frame)
    }

    private func largestSecondDifference(_ samples: some Collection<Int16>) -> Double {
        let values = samples.map { Double($0) }
        return zip(zip(values, values.dropFirst()), values.dropFirst(2)).map { abs($1 - 2 * $0.1 + $0.0) }.max() ?? 0
    }

    @Test(
        "In 30 minutes of a clock that is 100 ppm off, with jitter, the delay changes by at most 20 ms and nothing clicks",
        arguments: [100.0, -100.0])
    func drift(partsPerMillion: Double) throws {
        let sampleRate = 1_000
        let frame = sampleRate / 50
        var sine = Sine(frequency: 12.5, sampleRate: sampleRate)
        var pacer = SpeechPacer(SpeechPacer.Options(sampleRate: sampleRate), start: Self.start)
        var generator = SeededGenerator(seed: 1)
        let senderRate = 1 + partsPerMillion / 1_000_000
        func arrival(_ index: Int) -> NIODeadline {
            Self.start + .nanoseconds(Int64(Double(index) * 20_000_000 / senderRate))
                + .microseconds(Int64.random(in: 0..<15_000, using: &generator))
        }
        var sent = 0
        var nextArrival = arrival(0)
        var last: [Int16] = []
        var worst = 0.0
        var delays: [Double] = []
        let frames = 30 * 60 * 50
        for index in 0..<frames {
            let now = pacer.nextDue
            while nextArrival <= now {
                pacer.push(sine.next(frame), at: nextArrival)
                sent += 1
                nextArrival = arrival(sent)
            }
            let output = try next(&pacer)
            guard index >= 50 else { continue }
            try #require(!output.isSilent, "frame \(index)")
            worst = max(worst, largestSecondDifference(last.suffix(2) + output.samples))
            last = output.samples
            // The output's phase tells how old it is, modulo the period of 80 ms.
            let (before, value, after) = (Double(last[0]), Double(last[1]), Double(last[2]))
            let phase = atan2(value, (after - before) / 2 / sin(sine.step))
            guard index >= 500 else { continue }
            let sender = (Double(index) * 0.020 + 1 / Double(sampleRate)) * senderRate * Double(sampleRate) * sine.step
            let delay = (sender - phase).truncatingRemainder(dividingBy: 2 * .pi) / sine.step / Double(sampleRate)
            delays.append(delay < 0 ? delay + 0.080 : delay)
        }
        // After the first 10 s, in which the delay settles.
        let range = try #require(delays.max()) - (try #require(delays.min()))
        #expect(range <= 0.020, "the delay is \(delays.min() ?? 0) to \(delays.max() ?? 0) s")
        #expect(worst <= sine.curvature * 1.1 + 3, "\(worst), and the sine itself \(sine.curvature)")
        #expect(pacer.counters == SpeechPacer.Counters())
    }

    @Test("Missing sound becomes silence, is counted, and neither its start nor its end clicks")
    func underrun() throws {
        var sine = Sine(frequency: 440, sampleRate: 48_000)
        var pacer = SpeechPacer(start: Self.start)
        var heard: [Int16] = []
        var frames: [SpeechPacer.Frame] = []
        for index in 0..<200 {
            // Nothing comes in frames 50 to 74.
            if !(50..<75).contains(index) { pacer.push(sine.next(960), at: pacer.nextDue) }
            frames.append(try next(&pacer))
            #expect(frames[index].due == Self.start + .milliseconds(20) * index)
            #expect(frames[index].samples.count == 960)
            heard += frames[index].samples
        }
        let silent = frames.indices.filter { frames[$0].isSilent }
        #expect(pacer.counters.underruns == 1)
        #expect(pacer.counters.dropped == 0)
        // 500 ms did not come. Then it takes two or three frames until the sound starts again.
        #expect((24_001...24_240).contains(pacer.counters.filled), "\(pacer.counters.filled)")
        #expect(silent.filter { $0 > 2 }.allSatisfy { (50...77).contains($0) }, "\(silent)")
        #expect(silent.filter { $0 <= 2 } == [0, 1], "the sound starts when 55 ms have come")
        // A cut in the sine's peak would give 16,000, and one without a jump 900.
        let worst = largestSecondDifference(heard)
        #expect(worst <= 250, "\(worst), and the sine itself \(sine.curvature)")
    }

    @Test("A late burst is cut to its newest part without a click, so the delay does not stay")
    func burst() throws {
        var sine = Sine(frequency: 440, sampleRate: 48_000)
        var pacer = SpeechPacer(start: Self.start)
        var heard: [Int16] = []
        for index in 0..<200 {
            // Frames 50 to 99 come at once with frame 100, and 20 frames come early with frame 150.
            if index < 50 || index > 100 { pacer.push(sine.next(960), at: pacer.nextDue) }
            if index == 100 { for _ in 50...100 { pacer.push(sine.next(960), at: pacer.nextDue) } }
            if index == 150 { for _ in 0..<20 { pacer.push(sine.next(960), at: pacer.nextDue) } }
            heard += try next(&pacer).samples
            #expect(pacer.waiting <= 9_600)
        }
        // Of each burst, all but what may wait.
        #expect((48_000 + 19_200 - 2 * 9_600...48_000 + 19_200).contains(pacer.counters.dropped))
        #expect(pacer.counters.underruns == 1)
        let worst = largestSecondDifference(heard)
        #expect(worst <= 250, "\(worst), and the sine itself \(sine.curvature)")
    }

    @Test("A source that is read up to the target passes unchanged, and to its end")
    func file() throws {
        var pacer = SpeechPacer(start: Self.start)
        var generator = SeededGenerator(seed: 2)
        let sound = (0..<100_000).map { _ in Int16.random(in: -8_000...8_000, using: &generator) }
        var read = 0
        var heard: [Int16] = []
        var frames = 0
        while !pacer.isFinished {
            let length = min(pacer.shortfall, sound.count - read)
            pacer.push(Array(sound[read..<read + length]), at: pacer.nextDue)
            read += length
            if read == sound.count { pacer.finish() }
            heard += try next(&pacer).samples
            frames += 1
            try #require(frames < 200)
        }
        // 5 ms fade in at the start, and out at the end.
        #expect(Array(heard[300..<99_700]) == Array(sound[300..<99_700]))
        #expect(abs(heard.count - sound.count) <= 960 && heard[100_000...].allSatisfy { $0 == 0 })
        #expect(pacer.counters.underruns == 0 && pacer.counters.dropped == 0)
    }

    @Test("A late caller gets the missed frames, but not more than the limit")
    func lateCaller() {
        var pacer = SpeechPacer(start: Self.start)
        func count(at now: NIODeadline) -> Int {
            var count = 0
            while pacer.nextFrame(at: now) != nil { count += 1 }
            return count
        }
        #expect(pacer.nextFrame(at: Self.start - .nanoseconds(1)) == nil)
        #expect(count(at: Self.start) == 1)
        #expect(count(at: Self.start + .milliseconds(119)) == 5)
        #expect(pacer.counters.skippedFrames == 0)
        #expect(count(at: Self.start + .seconds(10)) == 1)
        #expect(pacer.counters.skippedFrames == 494)
        #expect(pacer.nextDue == Self.start + .milliseconds(10_020))
    }
}
