import CFFmpeg
import IoTCore
import NIOCore

/// Encodes 48 kHz stereo Int16 as Opus, in packets of 20 ms.
final class OpusEncoder: SoundEncoder {
    static let sampleRate = 48_000
    static let channels = 2
    /// 20 ms, the default `ptime` (RFC 7587 §6.1), which browsers expect.
    static let frameLength = 960
    /// Bits per second: transparent for speech, good for music.
    private static let bitrate: Int64 = 64_000
    private static let bytesPerFrame = frameLength * 2 * channels

    private let codec: CodecContext
    private let packet: CodecPacket
    private var pending = ByteBuffer()
    private var pendingPTS: Int64 = 0

    init() throws(IoTError) {
        packet = try CodecPacket()
        codec = try CodecContext(.encoder, AV_CODEC_ID_OPUS) { context throws(IoTError) in
            context.pointee.sample_rate = Int32(Self.sampleRate)
            context.pointee.sample_fmt = AV_SAMPLE_FMT_S16
            context.pointee.time_base = AVRational(num: 1, den: Int32(Self.sampleRate))
            av_channel_layout_default(&context.pointee.ch_layout, Int32(Self.channels))
            context.pointee.bit_rate = Self.bitrate
            context.pointee.thread_count = 1
        }
        // The frame size shows whether this is libopus: libavcodec's native encoder is experimental and must not be
        // used.
        guard codec.pointer.pointee.frame_size == Int32(Self.frameLength) else {
            throw IoTError(
                .codecUnsupported, "this build of libavcodec has no libopus", remedy: "install Debian's libavcodec59")
        }
    }

    var nextPTS: Int64 {
        pendingPTS + Int64(pending.readableBytes / (2 * Self.channels))
    }

    func start(at pts: Int64) throws(IoTError) -> [EncodedPacket] {
        var packets: [EncodedPacket] = []
        if pending.readableBytes > 0 {
            pending.writeRepeatingByte(0, count: Self.bytesPerFrame - pending.readableBytes % Self.bytesPerFrame)
            packets = try encodeWholeFrames()
        }
        pendingPTS = pts
        return packets
    }

    func encode(_ samples: ByteBuffer) throws(IoTError) -> [EncodedPacket] {
        pending.writeImmutableBuffer(samples)
        return try encodeWholeFrames()
    }

    private func encodeWholeFrames() throws(IoTError) -> [EncodedPacket] {
        var packets: [EncodedPacket] = []
        while let samples = pending.readSlice(length: Self.bytesPerFrame) {
            packets += try encode(frame: samples)
            pendingPTS += Int64(Self.frameLength)
        }
        pending.discardReadBytes()
        return packets
    }

    private func encode(frame samples: ByteBuffer) throws(IoTError) -> [EncodedPacket] {
        let planes = try codec.makeFrame(sampleCount: Self.frameLength, pts: pendingPTS)
        guard let plane = planes[0] else { throw IoTError.outOfMemory() }
        samples.withUnsafeReadableBytes { source in
            UnsafeMutableRawBufferPointer(start: plane, count: Self.bytesPerFrame).copyMemory(from: source)
        }
        // libopus returns one packet per frame. libavcodec's own times are one packet late after a gap.
        let pts = pendingPTS - Int64(codec.pointer.pointee.initial_padding)
        return try codec.encodeFrame(as: "Opus", through: packet).map { EncodedPacket(pts: pts, bytes: $0.bytes) }
    }
}
