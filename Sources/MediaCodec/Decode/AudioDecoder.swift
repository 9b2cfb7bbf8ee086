import CFFmpeg
public import IoTCore
import NIOCore

/// Decodes AAC (LC, HE, up to 7.1), G.711 and MPEG audio into interleaved Int16, with the stream's channels and sample rate.
///
/// Damaged frames do not throw: they are counted and left out. Not Sendable.
public final class AudioDecoder {
    /// Frames that could not be decoded.
    public private(set) var errorCount = 0

    private let codec: CodecContext
    private let packet: CodecPacket
    private var converter: SampleConverter?
    private var clock = OutputClock()

    /// - Throws: `codecUnsupported` (Opus, or AAC without AudioSpecificConfig), `mediaFailed`.
    public convenience init(_ parameters: AudioParameters) throws(IoTError) {
        let id: AVCodecID
        switch parameters.codec {
        case .aac: id = AV_CODEC_ID_AAC
        case .pcma: id = AV_CODEC_ID_PCM_ALAW
        case .pcmu: id = AV_CODEC_ID_PCM_MULAW
        case .opus: throw IoTError(.codecUnsupported, "Opus audio cannot be decoded", remedy: "use AAC or G.711")
        }
        guard parameters.codec != .aac || !parameters.audioSpecificConfig.isEmpty else {
            throw IoTError(.codecUnsupported, "AAC audio without an AudioSpecificConfig cannot be decoded")
        }
        guard (1...768_000).contains(parameters.sampleRate), (1...64).contains(parameters.channels) else {
            throw IoTError(.codecUnsupported, "audio with this sample rate or number of channels is not supported")
        }
        try self.init(id) { context throws(IoTError) in
            context.pointee.sample_rate = Int32(parameters.sampleRate)
            av_channel_layout_default(&context.pointee.ch_layout, Int32(parameters.channels))
            if !parameters.audioSpecificConfig.isEmpty {
                try CodecContext.setExtradata(parameters.audioSpecificConfig, of: context)
            }
        }
    }

    /// A decoder of layers I to III. Their sample rate and channels are in each frame.
    static func mpegAudio() throws(IoTError) -> AudioDecoder {
        // This decoder of libavcodec decodes the other layers, too.
        try AudioDecoder(AV_CODEC_ID_MP3) { _ in }
    }

    private init(
        _ id: AVCodecID, configure: (UnsafeMutablePointer<AVCodecContext>) throws(IoTError) -> Void
    ) throws(IoTError) {
        packet = try CodecPacket()
        codec = try CodecContext(.decoder, id) { context throws(IoTError) in
            context.pointee.pkt_timebase = AVRational(num: 1, den: 1_000_000)
            context.pointee.thread_count = 1
            try configure(context)
        }
    }

    /// - Throws: `mediaFailed` if memory runs out.
    public func decode(_ frame: MediaFrame) throws(IoTError) -> [AudioBuffer] {
        guard frame.kind == .audio, frame.bytes.readableBytes > 0 else { return [] }
        try packet.fill(frame.bytes, pts: frame.pts)
        let result = avcodec_send_packet(codec.pointer, packet.pointer)
        if result == LibAVError.outOfMemory { throw IoTError.outOfMemory() }
        if result < 0 { errorCount += 1 }
        return try receive()
    }

    /// Returns the remaining audio at the end of a stream. Afterwards the decoder can start again.
    public func flush() -> [AudioBuffer] {
        _ = avcodec_send_packet(codec.pointer, nil)
        // The only possible error is that memory runs out.
        let buffers = (try? receive()) ?? []
        reset()
        return buffers
    }

    /// Discards the buffered audio, for example after a break in the clock.
    public func reset() {
        avcodec_flush_buffers(codec.pointer)
        clock.reset()
    }

    private func receive() throws(IoTError) -> [AudioBuffer] {
        var buffers: [AudioBuffer] = []
        for _ in 0..<64 {
            let result = avcodec_receive_frame(codec.pointer, codec.frame)
            if result == LibAVError.again || result == LibAVError.endOfFile { break }
            if result == LibAVError.outOfMemory { throw IoTError.outOfMemory() }
            guard result >= 0 else {
                errorCount += 1
                continue
            }
            if let buffer = try convert() { buffers.append(buffer) }
            av_frame_unref(codec.frame)
        }
        return buffers
    }

    private func convert() throws(IoTError) -> AudioBuffer? {
        let frame = codec.frame
        let input = SampleConverter.Format(
            sampleFormat: AVSampleFormat(frame.pointee.format), sampleRate: Int(frame.pointee.sample_rate),
            channels: Int(frame.pointee.ch_layout.nb_channels),
            channelMask: cffmpeg_channel_mask(&frame.pointee.ch_layout))
        guard input.sampleRate > 0, input.channels > 0, let planes = frame.pointee.extended_data else { return nil }
        let converter: SampleConverter
        if let current = self.converter, current.input == input {
            converter = current
        } else {
            var output = input
            output.sampleFormat = AV_SAMPLE_FMT_S16
            converter = try SampleConverter(from: input, to: output)
            self.converter = converter
        }
        var samples = ByteBuffer()
        let count = try planes.withMemoryRebound(
            to: UnsafePointer<UInt8>?.self, capacity: input.channels
        ) { planes throws(IoTError) in
            try converter.convert(planes, count: Int(frame.pointee.nb_samples), into: &samples)
        }
        guard count > 0 else { return nil }
        var buffer = AudioBuffer(
            pts: 0, sampleRate: input.sampleRate, channels: input.channels, channelMask: input.channelMask,
            samples: samples)
        guard let pts = clock.place(frame.pointee.pts, duration: buffer.duration) else { return nil }
        buffer.pts = pts
        return buffer
    }
}
