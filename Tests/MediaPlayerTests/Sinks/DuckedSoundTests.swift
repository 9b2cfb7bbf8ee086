import Foundation
import IoTCore
import MediaCodec
import MediaTestSupport
import NIOCore
import Synchronization
import Testing

@testable import MediaPlayer

/// What a user hears while it talks, in virtual time.
@Suite struct DuckedSoundTests {
    /// A sink that keeps what it gets, with the time of it.
    private final class Listener: SoundSink, Sendable {
        struct Heard {
            let at: NIODeadline
            let sound: AudioBuffer
        }

        let heard = Mutex<[Heard]>([])
        private let time: @Sendable () -> NIODeadline

        init(_ time: @escaping @Sendable () -> NIODeadline) { self.time = time }

        func take(_ sound: AudioBuffer, presentAt: NIODeadline) -> Bool {
            heard.withLock { $0.append(Heard(at: time(), sound: sound)) }
            return true
        }

        func end(_ reason: IoTError?) {}

        /// One value for each moment: the mean of the channels.
        func samples(_ when: (NIODeadline) -> Bool) -> [Double] {
            heard.withLock { $0 }.filter { when($0.at) }.flatMap { entry in
                var bytes = entry.sound.samples
                return (0..<entry.sound.frameCount).map { _ in
                    (0..<entry.sound.channels).reduce(0.0) { sum, _ in
                        sum + Double(bytes.readInteger(endianness: .little, as: Int16.self) ?? 0)
                    }
                }
            }
        }
    }

    private struct Result {
        /// How loud each 4 ms are against the source, in decibels; `nil` where the source is nearly silent.
        var levels: [Double?]
        var isChangedBefore: Bool
        var isChangedAfter: Bool
        var steps: [(heard: Double, source: Double)]
    }

    private func energy(_ samples: ArraySlice<Double>) -> Double { samples.reduce(0) { $0 + $1 * $1 } }

    /// Plays a clip, and speaks from 1 s to 1.4 s.
    private func run(_ settings: PresentationSettings = PresentationSettings()) throws -> Result {
        let clip = try SampleClip("bunny-h264-aac51.mp4", rounds: 2)
        let player = VirtualPlayer(ClipSource(clip), PlayerCapabilities(of: .playback))
        let presentation = Presentation()
        presentation.settings = settings
        let clock = player.clock
        let (talker, other) = (Listener(clock), Listener(clock))
        try player.core.prepare(at: player.now)
        try player.core.addSound(of: "user", presentation: presentation) { talker }
        try player.core.addSound(of: "user") { other }
        try player.play()
        try player.run(for: .seconds(1))
        let begin = player.now
        for frame in 0..<20 {
            let word = (0..<960).map { Int16(6_000 * sin(2 * .pi * 200 * Double(frame * 960 + $0) / 48_000)) }
            presentation.speak(word, roundTrip: .milliseconds(50), at: player.now)
            try player.run(for: .milliseconds(20))
        }
        // The last word is over at `begin` + 400 ms; the echo's delay is 350 ms, the hold 250 ms.
        let quietEnd = begin + .milliseconds(1_000)
        try player.run(for: .seconds(2))
        let (heard, source) = (
            talker.samples { $0 >= begin && $0 < quietEnd }, other.samples { $0 >= begin && $0 < quietEnd }
        )
        #expect(heard.count == source.count && heard.count > 40_000)
        let block = 192
        let levels = stride(from: 0, to: heard.count - block, by: block).map { start -> Double? in
            let whole = energy(source[start..<start + block])
            guard whole > Double(block) * 200 * 200 else { return nil }
            return 10 * log10(max(energy(heard[start..<start + block]), 1e-3) / whole)
        }
        let later = quietEnd + .milliseconds(150)
        return Result(
            levels: levels, isChangedBefore: talker.samples { $0 < begin } != other.samples { $0 < begin },
            isChangedAfter: talker.samples { $0 >= later } != other.samples { $0 >= later },
            steps: Array(zip(heard, source)))
    }

    @Test("From 20 ms after its first word until its echo has passed, a user hears everything 30 dB quieter")
    func ducked() throws {
        let result = try run()
        let quiet = result.levels.dropFirst(5).compactMap { $0 }
        #expect(quiet.count > 100 && quiet.allSatisfy { $0 <= -30 }, "\(quiet.max() ?? 0) dB")
        #expect(!result.isChangedBefore && !result.isChangedAfter)
        // The gain falls evenly: no sample is a click.
        let gains = result.steps.prefix(480).filter { abs($0.source) > 500 }.map { $0.heard / $0.source }
        #expect(zip(gains, gains.dropFirst()).allSatisfy { $1 <= $0 + 0.02 }, "\(gains.prefix(20))")
    }

    @Test("A user who keeps the echo hears what the camera sends")
    func kept() throws {
        var settings = PresentationSettings()
        settings.echo = .keep
        let result = try run(settings)
        #expect(result.levels.compactMap { $0 }.allSatisfy { abs($0) < 0.001 } && !result.isChangedBefore)
    }
}
