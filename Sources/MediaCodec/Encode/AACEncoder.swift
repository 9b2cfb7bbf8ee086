import CFFmpeg
import IoTCore
import NIOCore

/// Encodes mono or stereo Int16 as AAC LC, in access units of 1024 samples.
final class AACEncoder {
    let audioSpecificConfig: [UInt8]
    private let codec: CodecContext
    private let packet: CodecPacket
    private let converter: SampleConverter
    private let channels: Int
    private var pending = ByteBuffer()
    private var pendingPTS: Int64 = 0

    static let frameLength = 1024

    /// - Parameter sampleRate: One of AAC's thirteen sample rates.
    init(sampleRate: Int, channels: Int) throws(IoTError) {
        self.channels = channels
        packet = try CodecPacket()
        codec = try CodecContext(.encoder, AV_CODEC_ID_AAC) { context throws(IoTError) in
            context.pointee.sample_rate = Int32(sampleRate)
            context.pointee.sample_fmt = AV_SAMPLE_FMT_FLTP
            context.pointee.time_base = AVRational(num: 1, den: Int32(sampleRate))
            av_channel_layout_default(&context.pointee.ch_layout, Int32(channels))
            // This is more than enough for telephone-band speech.
            context.pointee.bit_rate = Int64(4 * sampleRate * channels)
            context.pointee.thread_count = 1
            context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
        }
        let size = Int(codec.pointer.pointee.extradata_size)
        audioSpecificConfig =
            codec.pointer.pointee.extradata.map { Array(UnsafeBufferPointer(start: $0, count: size)) } ?? []
        // The samples stay interleaved at first, so that a frame is a fixed number of bytes. For mono, planar and
        // interleaved are the same.
        converter = try SampleConverter(
            from: .init(sampleFormat: AV_SAMPLE_FMT_S16, sampleRate: sampleRate, channels: channels, channelMask: 0),
            to: .init(sampleFormat: AV_SAMPLE_FMT_FLT, sampleRate: sampleRate, channels: channels, channelMask: 0))
    }

    /// The time of the next samples if they follow without a gap, in samples.
    var nextPTS: Int64 {
        pendingPTS + Int64(pending.readableBytes / (4 * channels))
    }

    /// Starts at `pts`, or restarts there after a gap. Returns the access unit before the gap, padded with silence.
    func start(at pts: Int64) throws(IoTError) -> [EncodedPacket] {
        let packets = try padAndEncode()
        pendingPTS = pts
        return packets
    }

    func encode(_ buffer: AudioBuffer) throws(IoTError) -> [EncodedPacket] {
        let source = Array(buffer.samples.readableBytesView)
        var converted = ByteBuffer()
        _ = try source.withUnsafeBufferPointer { bytes throws(IoTError) -> Int in
            var plane: UnsafePointer<UInt8>? = bytes.baseAddress
            return try converter.convert(&plane, count: buffer.frameCount, into: &converted)
        }
        pending.writeBuffer(&converted)
        return try encodeWholeFrames()
    }

    func finish() throws(IoTError) -> [EncodedPacket] {
        try padAndEncode() + codec.finish(as: "AAC", through: packet)
    }

    private var bytesPerFrame: Int { Self.frameLength * 4 * channels }

    private func padAndEncode() throws(IoTError) -> [EncodedPacket] {
        guard pending.readableBytes > 0 else { return [] }
        pending.writeRepeatingByte(0, count: bytesPerFrame - pending.readableBytes % bytesPerFrame)
        return try encodeWholeFrames()
    }

    private func encodeWholeFrames() throws(IoTError) -> [EncodedPacket] {
        var packets: [EncodedPacket] = []
        while let samples = pending.readSlice(length: bytesPerFrame) {
            packets += try encode(frame: samples)
            pendingPTS += Int64(Self.frameLength)
        }
        pending.discardReadBytes()
        return packets
    }

    private func encode(frame samples: ByteBuffer) throws(IoTError) -> [EncodedPacket] {
        let planes = try codec.makeFrame(sampleCount: Self.frameLength, pts: pendingPTS)
        samples.withUnsafeReadableBytes { source in
            for channel in 0..<channels {
                guard let plane = planes[channel] else { continue }
                let target = UnsafeMutableRawPointer(plane)
                for index in 0..<Self.frameLength {
                    let value = source.loadUnaligned(fromByteOffset: 4 * (index * channels + channel), as: Float.self)
                    target.storeBytes(of: value, toByteOffset: 4 * index, as: Float.self)
                }
            }
        }
        return try codec.encodeFrame(as: "AAC", through: packet)
    }
}
