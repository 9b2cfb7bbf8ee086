import CFFmpeg
package import IoTCore
import NIOCore

/// Reads sound, in any container and codec of a small list, as 48 kHz mono.
///
/// Blocks its caller: use it on its own thread. It opens nothing but what it is given: playlists and other formats that
/// name files are not on the list, and no protocol is.
package final class SoundReader {
    package enum Input: Sendable {
        case file(String)
        /// A stream of bytes, for example of a pipe. `DemuxerCancellation` cannot wake a reader that waits for it: close
        /// the channel, too.
        case channel(ByteChannel)
    }

    private static let formats = "wav,ogg,flac,mp3,aac,mov,mp4,matroska,webm"
    private static let codecs: [AVCodecID] = [
        AV_CODEC_ID_PCM_S16LE, AV_CODEC_ID_PCM_U8, AV_CODEC_ID_PCM_S24LE, AV_CODEC_ID_PCM_S32LE, AV_CODEC_ID_PCM_F32LE,
        AV_CODEC_ID_PCM_ALAW, AV_CODEC_ID_PCM_MULAW, AV_CODEC_ID_FLAC, AV_CODEC_ID_MP3, AV_CODEC_ID_AAC,
        AV_CODEC_ID_OPUS, AV_CODEC_ID_VORBIS, AV_CODEC_ID_ALAC,
    ]
    /// After so many damaged packets in a row the rest is not read.
    private static let mostDamaged = 64

    private let bytes: InputBytes
    private var format: UnsafeMutablePointer<AVFormatContext>?
    private let packet: CodecPacket
    private var codec: CodecContext
    private let stream: Int32
    private var converter: SampleConverter?
    private var hasSound = false
    private var damaged = 0

    /// Reads the header.
    ///
    /// - Throws: 25011 `sourceUnsupported` for what is not sound in a supported format, 25042 `sourceNotFound`, 25010
    ///   `sourceUnreachable` (a file that cannot be read), 25025 `stopping` (cancelled).
    package init(_ input: Input, cancellation: DemuxerCancellation = DemuxerCancellation()) throws(IoTError) {
        LibAV.initialize()
        let bytes = try InputBytes(input, cancellation: cancellation)
        var format = try Self.open(bytes)
        do throws(IoTError) {
            let index = av_find_best_stream(format, AVMEDIA_TYPE_AUDIO, -1, -1, nil, 0)
            guard index >= 0, let track = format?.pointee.streams[Int(index)] else {
                throw bytes.unsupported("has no sound")
            }
            for other in 0..<Int(format?.pointee.nb_streams ?? 0) where other != Int(index) {
                format?.pointee.streams[other]?.pointee.discard = AVDISCARD_ALL
            }
            codec = try Self.makeDecoder(track, bytes)
            packet = try CodecPacket()
            stream = index
        } catch {
            avformat_close_input(&format)
            throw error
        }
        self.bytes = bytes
        self.format = format
    }

    deinit {
        avformat_close_input(&format)
    }

    /// The next samples, at least one; `nil` at the end.
    ///
    /// - Throws: like `init`; damaged parts are left out.
    package func read() throws(IoTError) -> [Int16]? {
        while format != nil {
            let isMore = try readPacket()
            let samples = try receive(isLast: !isMore)
            if !isMore { avformat_close_input(&format) }
            if !samples.isEmpty {
                hasSound = true
                return samples
            }
        }
        guard hasSound else { throw bytes.unsupported("has no sound that can be decoded") }
        return nil
    }

    // MARK: Opening

    private static func open(_ bytes: InputBytes) throws(IoTError) -> UnsafeMutablePointer<AVFormatContext>? {
        guard let fresh = avformat_alloc_context() else { throw IoTError.outOfMemory() }
        var format: UnsafeMutablePointer<AVFormatContext>? = fresh
        bytes.attach(to: fresh)
        var settings: OpaquePointer?
        defer { av_dict_free(&settings) }
        av_dict_set(&settings, "protocol_whitelist", bytes.protocols, 0)
        var demuxer: UnsafePointer<AVInputFormat>?
        if let header = bytes.takeWAVHeader() {
            demuxer = av_find_input_format(header.formatName)
            av_dict_set(&settings, "format_whitelist", header.formatName, 0)
            av_dict_set(&settings, "sample_rate", String(header.sampleRate), 0)
            av_dict_set(&settings, "ch_layout", "\(header.channels)c", 0)
        } else {
            av_dict_set(&settings, "format_whitelist", formats, 0)
        }
        // On failure, libav frees the context and sets the pointer to nil.
        var result = avformat_open_input(&format, bytes.url, demuxer, &settings)
        // Plain samples have nothing to find out, and the search would wait for more of them.
        if result >= 0, demuxer == nil { result = avformat_find_stream_info(format, nil) }
        guard result >= 0, !bytes.isCancelled else {
            avformat_close_input(&format)
            throw bytes.failure(result)
        }
        return format
    }

    private static func makeDecoder(
        _ track: UnsafeMutablePointer<AVStream>, _ bytes: InputBytes
    ) throws(IoTError) -> CodecContext {
        guard let coded = track.pointee.codecpar, codecs.contains(coded.pointee.codec_id) else {
            let name = track.pointee.codecpar.flatMap { avcodec_get_name($0.pointee.codec_id) }
            throw bytes.unsupported("has sound in \(name.map { String(cString: $0) } ?? "an unknown codec")")
        }
        return try CodecContext(.decoder, coded.pointee.codec_id) { context throws(IoTError) in
            guard avcodec_parameters_to_context(context, coded) >= 0 else { throw IoTError.outOfMemory() }
            context.pointee.pkt_timebase = track.pointee.time_base
            context.pointee.thread_count = 1
        }
    }

    // MARK: Reading

    /// Sends the next packet to the decoder. Returns false at the end.
    private func readPacket() throws(IoTError) -> Bool {
        while true {
            av_packet_unref(packet.pointer)
            let result = av_read_frame(format, packet.pointer)
            guard !bytes.isCancelled else { throw bytes.failure(LibAVError.interrupted) }
            switch result {
            case LibAVError.endOfFile:
                return false
            case LibAVError.outOfMemory:
                throw IoTError.outOfMemory()
            case ..<0:
                // A damaged file may continue after the damage.
                damaged += 1
                guard damaged <= Self.mostDamaged else { return false }
                continue
            default:
                break
            }
            guard packet.pointer.pointee.stream_index == stream else { continue }
            let sent = avcodec_send_packet(codec.pointer, packet.pointer)
            if sent == LibAVError.outOfMemory { throw IoTError.outOfMemory() }
            damaged = sent < 0 ? damaged + 1 : 0
            return damaged <= Self.mostDamaged
        }
    }

    private func receive(isLast: Bool) throws(IoTError) -> [Int16] {
        if isLast { avcodec_send_packet(codec.pointer, nil) }
        var samples = ByteBuffer()
        while avcodec_receive_frame(codec.pointer, codec.frame) >= 0 {
            try convert(into: &samples)
            av_frame_unref(codec.frame)
        }
        if isLast, let converter { _ = try converter.convert(nil, count: 0, into: &samples) }
        return samples.readableBytesView.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    }

    private func convert(into samples: inout ByteBuffer) throws(IoTError) {
        let frame = codec.frame
        let input = SampleConverter.Format(
            sampleFormat: AVSampleFormat(frame.pointee.format), sampleRate: Int(frame.pointee.sample_rate),
            channels: Int(frame.pointee.ch_layout.nb_channels),
            channelMask: cffmpeg_channel_mask(&frame.pointee.ch_layout))
        guard input.sampleRate > 0, input.channels > 0, let planes = frame.pointee.extended_data else { return }
        if converter?.input != input {
            if let converter { _ = try converter.convert(nil, count: 0, into: &samples) }
            let output = SampleConverter.Format(
                sampleFormat: AV_SAMPLE_FMT_S16, sampleRate: SpeechFormat.sampleRate, channels: 1, channelMask: 0)
            converter = try SampleConverter(from: input, to: output)
        }
        // extended_data has a pointer for each plane; only one is used for interleaved samples.
        let converter = converter
        _ = try planes.withMemoryRebound(
            to: UnsafePointer<UInt8>?.self, capacity: input.channels
        ) { planes throws(IoTError) in
            try converter?.convert(planes, count: Int(frame.pointee.nb_samples), into: &samples)
        }
    }
}
