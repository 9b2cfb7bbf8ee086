import Foundation
package import NIOCore

/// Says when received sound should be quiet because we speak, so that the other side's echo of us is not heard (half
/// duplex); `SoundFader` makes it quiet. It owns no clock.
package struct Ducker: Sendable {
    /// The loudness is measured in blocks of 5 ms, so that the start of a word is not missed.
    private static let blocksPerSecond = 200
    /// The level of speech relative to full scale: at least −45 dB, and 12 dB above the noise.
    private static let leastLevel = 0.0056
    private static let aboveNoise = 4.0
    /// The noise is the quietest level of late: its estimate grows by 3 dB in a second until something is quieter.
    private static let noiseGrowth = 1.41

    /// How long our sound takes to the other side and back.
    package var roundTrip: TimeAmount
    private let sampleRate: Int
    private let hold: TimeAmount
    private var noise = Ducker.leastLevel / Ducker.aboveNoise
    private var quietUntil: NIODeadline?

    /// - Parameters:
    ///   - roundTrip: how long our sound takes to the other side and back.
    ///   - hold: how long the sound stays quiet in addition: echoes of a room, pauses between words.
    package init(
        sampleRate: Int = SpeechFormat.sampleRate, roundTrip: TimeAmount = .milliseconds(300),
        hold: TimeAmount = .milliseconds(250)
    ) {
        self.sampleRate = sampleRate
        self.roundTrip = roundTrip
        self.hold = hold
    }

    /// True while the received sound should be quiet.
    package func isDucking(at now: NIODeadline) -> Bool { quietUntil.map { now < $0 } ?? false }

    /// Takes what we say, as it is sent.
    package mutating func speak(_ samples: [Int16], at now: NIODeadline) {
        let blockLength = max(1, sampleRate / Self.blocksPerSecond)
        var isSpeech = false
        for start in stride(from: 0, to: samples.count, by: blockLength) {
            let block = samples[start..<min(start + blockLength, samples.count)]
            let energy = block.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(block.count)
            let level = energy.squareRoot() / 32_768
            let grown = noise * pow(Self.noiseGrowth, 1 / Double(Self.blocksPerSecond))
            noise = min(max(level, Self.leastLevel / Self.aboveNoise), grown)
            if level > Self.aboveNoise * noise { isSpeech = true }
        }
        guard isSpeech else { return }
        let length = Int64(samples.count) * 1_000_000_000 / Int64(sampleRate)
        let until = now + .nanoseconds(length) + roundTrip + hold
        quietUntil = max(quietUntil ?? until, until)
    }
}
