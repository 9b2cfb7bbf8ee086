public import IoTCore
import NIOCore

extension AudioBuffer {
    /// The sound with another loudness. The channel at the left has the left volume, the one at the right the right
    /// one, and every other, as well as mono, their mean.
    public func scaled(_ volume: SoundVolume) -> AudioBuffer {
        guard volume != .full, channels > 0 else { return self }
        let mean = (volume.left + volume.right) / 2
        // As fractions of 65,536.
        let factors = (0..<channels).map { channel in
            Int64(
                ((channels == 1 || channel > 1 ? mean : channel == 0 ? volume.left : volume.right) * 65_536).rounded())
        }
        var result = self
        var samples = self.samples
        result.samples = ByteBuffer()
        result.samples.reserveCapacity(samples.readableBytes)
        var channel = 0
        while let sample = samples.readInteger(endianness: .little, as: Int16.self) {
            result.samples.writeInteger(
                Int16(truncatingIfNeeded: (Int64(sample) * factors[channel] + 32_768) >> 16), endianness: .little)
            channel = channel + 1 == channels ? 0 : channel + 1
        }
        return result
    }
}
