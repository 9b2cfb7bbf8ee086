import Foundation
import NIOCore
import Testing

@testable import MediaCodec

/// In virtual time: frames of 20 ms.
@Suite struct DuckerTests {
    private static let start = NIODeadline.uptimeNanoseconds(5_000_000_000)

    private func tone(_ frame: Int, amplitude: Double, frequency: Double) -> [Int16] {
        (0..<960).map { Int16(amplitude * sin(2 * .pi * frequency * Double(frame * 960 + $0) / 48_000)) }
    }

    /// What is heard of a tone while we speak in some frames.
    private func heard(_ frames: Int, speech: (Int) -> [Int16]) -> [Int16] {
        var ducker = Ducker(roundTrip: .milliseconds(200), hold: .milliseconds(300))
        var fader = SoundFader()
        return (0..<frames).flatMap { frame in
            let now = Self.start + .milliseconds(20) * frame
            ducker.speak(speech(frame), at: now)
            let bytes = tone(frame, amplitude: 16_000, frequency: 500).withUnsafeBytes { ByteBuffer(bytes: $0) }
            let sound = AudioBuffer(pts: 0, sampleRate: 48_000, channels: 1, samples: bytes)
            return fader.fade(sound, isQuiet: ducker.isDucking(at: now)).samples.withUnsafeReadableBytes {
                Array($0.bindMemory(to: Int16.self))
            }
        }
    }

    /// Decibels relative to the undisturbed tone; `range` in ms.
    private func level(_ sound: [Int16], _ range: Range<Int>) -> Double {
        let part = sound[range.lowerBound * 48..<range.upperBound * 48]
        let power = part.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(part.count)
        return 20 * log10(max(power.squareRoot(), 0.1) / 16_000 * 2.0.squareRoot())
    }

    @Test("Speech makes the received sound 30 dB quieter within 20 ms, until the round trip and the hold time are over")
    func ducking() {
        // Speech from 1,000 to 1,500 ms.
        let sound = heard(150) {
            (50..<75).contains($0)
                ? tone($0, amplitude: 3_000, frequency: 200) : tone($0, amplitude: 30, frequency: 200)
        }
        #expect(abs(level(sound, 0..<1_000)) < 0.1)
        for start in stride(from: 1_020, to: 2_000, by: 4) {
            #expect(level(sound, start..<start + 4) <= -30, "\(level(sound, start..<start + 4)) dB at \(start) ms")
        }
        #expect(abs(level(sound, 2_100..<3_000)) < 0.1, "\(level(sound, 2_100..<3_000))")
        let values = sound.map { Double($0) }
        let worst =
            zip(zip(values, values.dropFirst()), values.dropFirst(2)).map { abs($1 - 2 * $0.1 + $0.0) }.max() ?? 0
        // 69 is the tone's own; a hard switch would give up to 16,000.
        #expect(worst < 400, "\(worst)")
    }

    @Test("A word that starts in the last 5 ms of a frame is noticed")
    func lateOnset() {
        let sound = heard(60) { frame in
            frame == 30
                ? [Int16](repeating: 0, count: 720) + tone(0, amplitude: 3_000, frequency: 200)[..<240]
                : [Int16](repeating: 0, count: 960)
        }
        #expect(level(sound, 620..<640) <= -30)
    }

    @Test("Steady noise of our microphone is no speech after a few seconds; a word in it is")
    func noise() {
        let sound = heard(500) { tone($0, amplitude: (400..<410).contains($0) ? 6_000 : 600, frequency: 200) }
        #expect(abs(level(sound, 6_000..<8_000)) < 0.1)
        #expect(level(sound, 8_020..<8_200) <= -30)
    }
}
