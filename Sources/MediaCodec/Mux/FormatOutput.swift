import CFFmpeg
import IoTCore
import NIOCore

/// Wraps libavformat's output of fragmented MP4. The output is collected in a buffer.
final class FormatOutput {
    /// The target of libavformat's callback; it must outlive the I/O context.
    private final class Sink {
        var bytes = ByteBuffer()
    }

    private var context: UnsafeMutablePointer<AVFormatContext>?
    private var io: UnsafeMutablePointer<AVIOContext>?
    private let sink = Sink()
    private let packet: CodecPacket
    private var hasHeader = false

    init() throws(IoTError) {
        LibAV.initialize()
        packet = try CodecPacket()
        guard avformat_alloc_output_context2(&context, nil, "mp4", nil) >= 0, let context else {
            throw IoTError.outOfMemory()
        }
        let bufferSize: Int32 = 64 * 1024
        guard let memory = av_malloc(Int(bufferSize)) else {
            free()
            throw IoTError.outOfMemory()
        }
        io = avio_alloc_context(
            memory.assumingMemoryBound(to: UInt8.self), bufferSize, 1, Unmanaged.passUnretained(sink).toOpaque(), nil,
            { opaque, data, count in
                guard let opaque, let data, count > 0 else { return 0 }
                let sink = Unmanaged<Sink>.fromOpaque(opaque).takeUnretainedValue()
                sink.bytes.writeBytes(UnsafeRawBufferPointer(start: data, count: Int(count)))
                return count
            }, nil)
        guard let io else {
            av_free(memory)
            free()
            throw IoTError.outOfMemory()
        }
        io.pointee.seekable = 0
        context.pointee.pb = io
        context.pointee.flags |= AVFMT_FLAG_BITEXACT
        // Negative times are not shifted.
        context.pointee.avoid_negative_ts = 0
    }

    deinit {
        free()
    }

    private func free() {
        avformat_free_context(context)
        context = nil
        if let io { av_free(io.pointee.buffer) }
        avio_context_free(&io)
    }

    /// - Parameter ticks: The ticks per second of the track's clock.
    /// - Returns: The track's index.
    func addStream(
        ticks: Int, _ configure: (UnsafeMutablePointer<AVCodecParameters>) throws(IoTError) -> Void
    ) throws(IoTError) -> Int32 {
        guard let stream = avformat_new_stream(context, nil), let coded = stream.pointee.codecpar else {
            throw IoTError.outOfMemory()
        }
        stream.pointee.time_base = AVRational(num: 1, den: Int32(ticks))
        try configure(coded)
        return stream.pointee.index
    }

    static func setExtradata(_ bytes: [UInt8], of coded: UnsafeMutablePointer<AVCodecParameters>) throws(IoTError) {
        guard let copy = CodecContext.copyForLibAV(bytes) else { throw IoTError.outOfMemory() }
        coded.pointee.extradata = copy
        coded.pointee.extradata_size = Int32(bytes.count)
    }

    func writeHeader() throws(IoTError) {
        var settings: OpaquePointer?
        defer { av_dict_free(&settings) }
        // delay_moov: the header is written at the first `endFragment`, so that its edit list can contain how far
        // decoding runs ahead of presentation. Negative composition offsets would not need this, but ffmpeg then shows
        // the pictures late. frag_custom: fragments end at `endFragment`. frag_discont: a track's first fragment starts
        // at its own time, not at 0, so that a late track keeps its position.
        av_dict_set(&settings, "movflags", "delay_moov+default_base_moof+frag_custom+frag_discont", 0)
        av_dict_set(&settings, "use_editlist", "1", 0)
        try check(avformat_write_header(context, &settings), "starting")
        hasHeader = true
    }

    /// Writes one sample. Times are in ticks of the time base that `writeHeader` set, see `ticks(of:)`.
    func write(_ bytes: ByteBuffer, stream: Int32, pts: Int64, dts: Int64, duration: Int64, isKey: Bool)
        throws(IoTError)
    {
        try packet.fill(bytes, pts: pts)
        packet.pointer.pointee.dts = dts
        packet.pointer.pointee.duration = duration
        packet.pointer.pointee.stream_index = stream
        packet.pointer.pointee.flags = isKey ? AV_PKT_FLAG_KEY : 0
        try check(av_write_frame(context, packet.pointer), "writing a frame of")
    }

    func endFragment() throws(IoTError) {
        try check(av_write_frame(context, nil), "writing a fragment of")
    }

    func writeTrailer() throws(IoTError) {
        guard hasHeader else { return }
        hasHeader = false
        try check(av_write_trailer(context), "ending")
    }

    /// The bytes written since the last call.
    func takeBytes() -> ByteBuffer? {
        avio_flush(io)
        guard sink.bytes.readableBytes > 0 else { return nil }
        defer { sink.bytes = ByteBuffer() }
        return sink.bytes
    }

    /// The clock rate of a track in ticks per second. The muxer may change it in the header.
    func ticks(of stream: Int32) -> Int64 {
        guard let context, stream >= 0, stream < context.pointee.nb_streams,
            let base = context.pointee.streams[Int(stream)]?.pointee.time_base, base.num > 0
        else { return 1_000_000 }
        return Int64(base.den / base.num)
    }

    private func check(_ result: Int32, _ what: String) throws(IoTError) {
        guard result < 0 else { return }
        if result == LibAVError.outOfMemory { throw IoTError.outOfMemory() }
        throw IoTError(.mediaFailed, "\(what) the MP4 failed: \(LibAVError(result))", remedy: "start a new recording")
    }
}
