import NIOCore

/// The header of a WAV stream with plain PCM samples.
///
/// libavformat's own reader of WAV waits for 64 KB of such a stream before it returns the first sample (it looks for
/// IEC 61937 in it): at 16 kHz, two seconds of a microphone's pipe.
struct WAVHeader: Equatable {
    /// More than any program writes before the samples.
    static let longest = 4_096

    var sampleRate: Int
    var channels: Int
    var bitsPerSample: Int
    /// Where the samples start.
    var length: Int
    /// The number of bytes of the samples; `nil`: until the end.
    var dataLength: Int?

    /// libavformat's name for such samples without a header.
    var formatName: String { bitsPerSample == 8 ? "u8" : "s\(bitsPerSample)le" }

    /// - Parameter bytes: the start of the stream.
    /// - Returns: `nil` if it is something else, or if the samples do not start within it.
    init?(_ bytes: ByteBuffer) {
        var rest = bytes
        guard rest.readString(length: 4) == "RIFF", rest.readInteger(as: UInt32.self) != nil,
            rest.readString(length: 4) == "WAVE"
        else { return nil }
        var format: (tag: UInt16, channels: UInt16, rate: UInt32, bits: UInt16)?
        while let name = rest.readString(length: 4), let size = rest.readInteger(endianness: .little, as: UInt32.self) {
            if name == "data" {
                guard let format, format.tag == 1, [8, 16, 24, 32].contains(format.bits),
                    (1...8).contains(format.channels), (1...768_000).contains(format.rate)
                else { return nil }
                sampleRate = Int(format.rate)
                channels = Int(format.channels)
                bitsPerSample = Int(format.bits)
                length = bytes.readableBytes - rest.readableBytes
                dataLength = size == 0 || size == .max ? nil : Int(size)
                return
            }
            // Chunks have an even length.
            guard var chunk = rest.readSlice(length: Int(size) + Int(size % 2)) else { return nil }
            guard name == "fmt " else { continue }
            guard let tag = chunk.readInteger(endianness: .little, as: UInt16.self),
                let channels = chunk.readInteger(endianness: .little, as: UInt16.self),
                let rate = chunk.readInteger(endianness: .little, as: UInt32.self), chunk.readSlice(length: 6) != nil,
                let bits = chunk.readInteger(endianness: .little, as: UInt16.self)
            else { return nil }
            // WAVE_FORMAT_EXTENSIBLE: the subformat begins with the tag, after the extension's size, the valid bits and
            // the loudspeakers.
            let isExtensible = tag == 0xFFFE && chunk.readSlice(length: 8) != nil
            let subformat = isExtensible ? chunk.readInteger(endianness: .little, as: UInt16.self) : nil
            format = (subformat ?? tag, channels, rate, bits)
        }
        return nil
    }
}
