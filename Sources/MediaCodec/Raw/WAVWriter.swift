public import IoTCore
public import NIOCore

/// Writes WAVE as a stream of 16-bit samples. Its length is unknown, so all bits of the sizes are set ("until the
/// end").
///
/// More than two channels are written with their loudspeakers (`WAVE_FORMAT_EXTENSIBLE`).
public struct WAVWriter: Sendable {
    private var sampleRate = 0
    private var channels = 0

    public init() {}

    /// - Parameters:
    ///   - sampleRate: Samples per second and channel.
    ///   - channels: 1 to 64.
    ///   - channelMask: `dwChannelMask`; 0 selects the default loudspeakers for the number of channels.
    public mutating func header(sampleRate: Int, channels: Int, channelMask: UInt64 = 0) -> ByteBuffer {
        self.sampleRate = sampleRate
        self.channels = channels
        let isExtensible = channels > 2
        let bytesPerFrame = UInt16(clamping: channels * 2)
        var header = ByteBuffer()
        header.writeString("RIFF")
        header.writeInteger(UInt32.max, endianness: .little)
        header.writeString("WAVEfmt ")
        header.writeInteger(UInt32(isExtensible ? 40 : 16), endianness: .little)
        header.writeInteger(UInt16(isExtensible ? 0xFFFE : 1), endianness: .little)
        header.writeInteger(UInt16(clamping: channels), endianness: .little)
        header.writeInteger(UInt32(clamping: sampleRate), endianness: .little)
        header.writeInteger(UInt32(clamping: sampleRate * channels * 2), endianness: .little)
        header.writeInteger(bytesPerFrame, endianness: .little)
        header.writeInteger(UInt16(16), endianness: .little)
        if isExtensible {
            header.writeInteger(UInt16(22), endianness: .little)
            header.writeInteger(UInt16(16), endianness: .little)
            let mask = channelMask == 0 ? Self.usualMask(channels) : UInt32(truncatingIfNeeded: channelMask)
            header.writeInteger(mask, endianness: .little)
            // KSDATAFORMAT_SUBTYPE_PCM
            header.writeBytes([1, 0, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71])
        }
        header.writeString("data")
        header.writeInteger(UInt32.max, endianness: .little)
        return header
    }

    /// The samples, unchanged.
    ///
    /// - Throws: `mediaHeaderInvalid` if the sample rate or channels differ from the header's. Convert them with
    ///   `AudioConverter` first.
    public func samples(_ buffer: AudioBuffer) throws(IoTError) -> ByteBuffer {
        guard buffer.sampleRate == sampleRate, buffer.channels == channels else {
            throw IoTError(
                .mediaHeaderInvalid,
                "the audio changed from \(sampleRate) Hz, \(channels) channels to \(buffer.sampleRate) Hz, "
                    + "\(buffer.channels), which a WAV stream cannot express",
                remedy: "start a new one")
        }
        return buffer.samples
    }

    // Front left 1, front right 2, centre 4, low frequency 8, back left 0x10, back right 0x20, back centre 0x100, side
    // left 0x200, side right 0x400.
    private static func usualMask(_ channels: Int) -> UInt32 {
        switch channels {
        case 3: 0x7
        case 4: 0x107
        case 5: 0x37
        case 6: 0x3F
        case 7: 0x70F
        case 8: 0x63F
        default: 0
        }
    }
}
