import Foundation
import NIOCore

/// Turns sound down and up again, without a click.
package struct SoundFader: Sendable {
    /// The quiet sound: 40 dB less.
    private static let quietGain: Float = 0.01
    /// Seconds from loud to quiet, and back. The steps are so small that nothing clicks.
    private static let attack = 0.010
    private static let release = 0.100

    private var gain: Float = 1

    package init() {}

    /// Returns the sound that follows the one of the last call.
    package mutating func fade(_ sound: AudioBuffer, isQuiet: Bool) -> AudioBuffer {
        let target = isQuiet ? Self.quietGain : 1
        guard gain != target || gain != 1, sound.channels > 0, sound.sampleRate > 0 else { return sound }
        // Constant steps in decibels: the ear hears an even change.
        let seconds = target < gain ? Self.attack : Self.release
        let step = Float(pow(Double(Self.quietGain), 1 / (seconds * Double(sound.sampleRate))))
        var (result, samples) = (sound, sound.samples)
        result.samples = ByteBuffer()
        result.samples.reserveCapacity(samples.readableBytes)
        var channel = 0
        while let sample = samples.readInteger(endianness: .little, as: Int16.self) {
            if channel == 0 { gain = target < gain ? max(target, gain * step) : min(target, gain / step) }
            result.samples.writeInteger(Int16((Float(sample) * gain).rounded()), endianness: .little)
            channel = channel + 1 == sound.channels ? 0 : channel + 1
        }
        return result
    }
}
