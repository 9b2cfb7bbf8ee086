import CFFmpeg
import IoTCore
import NIOCore

/// Encodes mono or stereo Int16 as AAC LC, in access units of 1024 samples.
final class AACEncoder: SoundEncoder {
    let audioSpecificConfig: [UInt8]
    private let codec: CodecContext
    private let packet: CodecPacket
    private let converter: SampleConverter
    private let channels: Int
    private var pending = ByteBuffer()
    private var pendingPTS: Int64 = 0

    static let frameLength = 1024

    /// - Parameters:
    ///   - sampleRate: One of AAC's thirteen sample rates.
    ///   - bitRate: Bits per second; the default is more than enough for telephone-band speech.
    init(sampleRate: Int, channels: Int, bitRate: Int64? = nil) throws(IoTError) {
        self.channels = channels
        packet = try CodecPacket()
        codec = try CodecContext(.encoder, AV_CODEC_ID_AAC) { context throws(IoTError) in
            context.pointee.sample_rate = Int32(sampleRate)
            context.pointee.sample_fmt = AV_SAMPLE_FMT_FLTP
            context.pointee.time_base = AVRational(num: 1, den: Int32(sampleRate))
            av_channel_layout_default(&context.pointee.ch_layout, Int32(channels))
            context.pointee.bit_rate = bitRate ?? Int64(4 * sampleRate * channels)
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

    var nextPTS: Int64 {
        pendingPTS + Int64(pending.readableBytes / (4 * channels))
    }

    func start(at pts: Int64) throws(IoTError) -> [EncodedPacket] {
        let packets = try padAndEncode()
        pendingPTS = pts
        return packets
    }

    func encode(_ samples: ByteBuffer) throws(IoTError) -> [EncodedPacket] {
        let source = Array(samples.readableBytesView)
        var converted = ByteBuffer()
        _ = try source.withUnsafeBufferPointer { bytes throws(IoTError) -> Int in
            var plane: UnsafePointer<UInt8>? = bytes.baseAddress
            return try converter.convert(&plane, count: source.count / (2 * channels), into: &converted)
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
