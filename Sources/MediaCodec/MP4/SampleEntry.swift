import IoTCore
import NIOCore

/// The sample entries of a track (ISO/IEC 14496-12 §8.5.2): what a decoder needs.
enum SampleEntry {
    /// `avc1` or `hvc1` (ISO/IEC 14496-15 §5.4.2, §8.4).
    static func write(_ parameters: VideoParameters, to box: inout ByteBuffer) {
        let record = DecoderConfiguration.record(codec: parameters.codec, parameterSets: parameters.parameterSets)
        let (entry, configuration): (BoxType, BoxType) =
            parameters.codec == .h264 ? ("avc1", "avcC") : ("hvc1", "hvcC")
        box.writeBox(entry) { box in
            writeStart(to: &box)
            box.writeZeros(16)
            box.writeInteger(UInt16(clamping: parameters.width))
            box.writeInteger(UInt16(clamping: parameters.height))
            // 72 pixels an inch, each way.
            box.writeInteger(UInt32(0x48_0000))
            box.writeInteger(UInt32(0x48_0000))
            box.writeZeros(4)
            // One frame a sample, no compressor's name, 24 bits a pixel.
            box.writeInteger(UInt16(1))
            box.writeZeros(32)
            box.writeInteger(UInt16(0x18))
            box.writeInteger(UInt16.max)
            box.writeBox(configuration) { _ = $0.writeBytes(record) }
        }
    }

    /// `mp4a` (ISO/IEC 14496-14 §6.7) or `Opus`.
    static func write(_ parameters: AudioParameters, to box: inout ByteBuffer) {
        box.writeBox(parameters.codec == .opus ? "Opus" : "mp4a") { box in
            writeStart(to: &box)
            box.writeZeros(8)
            box.writeInteger(UInt16(clamping: parameters.channels))
            box.writeInteger(UInt16(16))
            box.writeZeros(4)
            // 16.16: higher rates are only in the decoder's configuration.
            let rate = parameters.sampleRate <= Int(UInt16.max) ? parameters.sampleRate : 0
            box.writeInteger(UInt32(rate) << 16)
            if parameters.codec == .opus {
                writeOpus(parameters, to: &box)
            } else {
                writeAAC(parameters, to: &box)
            }
        }
    }

    private static func writeStart(to box: inout ByteBuffer) {
        box.writeZeros(6)
        // The index in `dref`.
        box.writeInteger(UInt16(1))
    }

    /// Encapsulation of Opus in ISOBMFF §4.3.2. Nothing is skipped at the beginning, because the stream began before
    /// the recording.
    private static func writeOpus(_ parameters: AudioParameters, to box: inout ByteBuffer) {
        box.writeBox("dOps") { box in
            box.writeBytes([0, UInt8(clamping: parameters.channels), 0, 0])
            box.writeInteger(UInt32(clamping: parameters.sampleRate))
            box.writeBytes([0, 0, 0])
        }
    }

    /// The elementary stream's descriptor (ISO/IEC 14496-1 §7.2.6.5).
    private static func writeAAC(_ parameters: AudioParameters, to box: inout ByteBuffer) {
        var configuration = ByteBuffer()
        writeDescriptor(5, ByteBuffer(bytes: parameters.audioSpecificConfig), to: &configuration)
        var decoder = ByteBuffer()
        // AAC, an audio stream; buffer size and bit rates are unknown.
        decoder.writeBytes([0x40, 0x15])
        decoder.writeZeros(11)
        decoder.writeBuffer(&configuration)
        var stream = ByteBuffer(bytes: [0, 0, 0])
        writeDescriptor(4, decoder, to: &stream)
        writeDescriptor(6, ByteBuffer(bytes: [2]), to: &stream)
        box.writeBox("esds", version: 0) { writeDescriptor(3, stream, to: &$0) }
    }

    private static func writeDescriptor(_ tag: UInt8, _ body: ByteBuffer, to buffer: inout ByteBuffer) {
        let count = body.readableBytes
        buffer.writeBytes([
            tag, 0x80 | UInt8(count >> 21 & 0x7F), 0x80 | UInt8(count >> 14 & 0x7F), 0x80 | UInt8(count >> 7 & 0x7F),
            UInt8(count & 0x7F),
        ])
        buffer.writeImmutableBuffer(body)
    }
}
