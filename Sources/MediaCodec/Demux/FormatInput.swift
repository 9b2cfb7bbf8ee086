import CFFmpeg
import IoTCore
import NIOCore

/// Wraps libavformat's input: opens a source, selects tracks, reads packets, rewinds.
final class FormatInput {
    private let address: SourceAddress
    private let options: DemuxerOptions
    private let gate: InterruptGate
    private var context: UnsafeMutablePointer<AVFormatContext>?
    private let packet: UnsafeMutablePointer<AVPacket>
    private var consecutiveInvalid = 0

    init(address: SourceAddress, options: DemuxerOptions, cancellation: DemuxerCancellation) throws(IoTError) {
        LibAV.initialize()
        self.address = address
        self.options = options
        gate = InterruptGate(cancellation: cancellation)
        guard let packet = av_packet_alloc() else { throw IoTError.outOfMemory() }
        self.packet = packet
        try open()
    }

    deinit {
        close()
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        av_packet_free(&packet)
    }

    var streams: [UnsafeMutablePointer<AVStream>] {
        guard let context, let list = context.pointee.streams else { return [] }
        return (0..<Int(context.pointee.nb_streams)).compactMap { list[$0] }
    }

    var isLive: Bool {
        address.isLive
    }

    /// Makes libavformat skip the packets of all other streams.
    func keepOnly(_ indices: Set<Int32>) {
        for stream in streams where !indices.contains(stream.pointee.index) {
            stream.pointee.discard = AVDISCARD_ALL
        }
    }

    /// The next packet, valid until the next call; nil at the end of the source.
    /// - Parameter restartingTimeout: False keeps the timeout of the opening running.
    func readPacket(restartingTimeout: Bool) throws(IoTError) -> UnsafeMutablePointer<AVPacket>? {
        guard let context else { throw IoTError(.mediaFailed, "the source is closed", remedy: "open it again") }
        if restartingTimeout { gate.start(timeout: options.readTimeout) }
        while true {
            av_packet_unref(packet)
            if gate.shouldStop() { throw failure(LibAVError.interrupted, whileDoing: "reading") }
            let result = av_read_frame(context, packet)
            if result >= 0 {
                consecutiveInvalid = 0
                return packet
            }
            if gate.didTimeOut || gate.isCancelled { throw failure(result, whileDoing: "reading") }
            switch result {
            case LibAVError.endOfFile:
                return nil
            case LibAVError.again:
                continue
            case LibAVError.invalidData:
                // A damaged file may continue after the damage; the limit prevents an endless loop.
                consecutiveInvalid += 1
                if consecutiveInvalid > 64 { return nil }
            default:
                throw failure(result, whileDoing: "reading")
            }
        }
    }

    /// Rewinds a file. Tracks and streams keep their indices.
    func rewind() throws(IoTError) {
        guard !isLive else {
            throw IoTError(.operationNotAllowed, "a live source cannot be rewound", remedy: "open it again")
        }
        if let context, Self.seeksToStart(context), avformat_seek_file(context, -1, .min, 0, 0, 0) >= 0 {
            return
        }
        close()
        try open()
    }

    // MP4 and Matroska have an index, so a seek to the start is exact. Other formats are opened again.
    private static func seeksToStart(_ context: UnsafeMutablePointer<AVFormatContext>) -> Bool {
        guard let name = context.pointee.iformat?.pointee.name else { return false }
        let format = String(cString: name)
        return (format.contains("mp4") || format.contains("matroska"))
            && context.pointee.start_time >= 0 && context.pointee.start_time < 1_000_000
    }

    private func close() {
        if context != nil { avformat_close_input(&context) }
    }

    private func open() throws(IoTError) {
        if let host = address.host, let reason = HostLookup.failure(of: host) {
            guard !gate.isCancelled else { throw failure(LibAVError.interrupted, whileDoing: "opening") }
            throw IoTError(
                .sourceHostUnknown, "the camera's host '\(host)' has no address: \(reason)",
                underlying: HostLookup.Failure(reason: reason))
        }
        guard let fresh = avformat_alloc_context() else { throw IoTError.outOfMemory() }
        fresh.pointee.interrupt_callback = gate.callback
        context = fresh
        gate.start(timeout: options.openTimeout)
        var settings: OpaquePointer?
        defer { av_dict_free(&settings) }
        let url = configure(&settings)
        // On failure, libav frees the context and sets the pointer to nil.
        var result = avformat_open_input(&context, url, nil, &settings)
        if result >= 0 {
            result = avformat_find_stream_info(context, nil)
        }
        guard result >= 0, !gate.didTimeOut, !gate.isCancelled else {
            close()
            throw failure(result, whileDoing: "opening")
        }
    }

    // The whitelists prevent a source from running programs, fetching URLs or opening other files: a "file" could
    // otherwise be a playlist. The prefix `file:` prevents libav from seeing a scheme in a file name.
    private func configure(_ settings: inout OpaquePointer?) -> String {
        switch address {
        case .file(let path):
            av_dict_set(&settings, "protocol_whitelist", "file", 0)
            av_dict_set(
                &settings, "format_whitelist",
                "mov,mp4,matroska,webm,mpegts,mpeg,avi,flv,h264,hevc,aac,wav,alaw,mulaw", 0)
            return "file:" + path
        case .rtsp(let url):
            av_dict_set(&settings, "protocol_whitelist", "rtsp,rtp,udp,tcp", 0)
            av_dict_set(&settings, "format_whitelist", "rtsp", 0)
            av_dict_set(&settings, "rtsp_transport", options.rtspTransport.rawValue, 0)
            av_dict_set(&settings, "timeout", String(TimeAmount(options.readTimeout).nanoseconds / 1000), 0)
            // Kernel buffer space for the burst of datagrams of a key frame.
            av_dict_set(&settings, "buffer_size", "4194304", 0)
            // Codec, size and reordering depth are known much earlier; a silent second track must not delay opening
            // further.
            av_dict_set(&settings, "analyzeduration", "3000000", 0)
            // Without this option, libav reads 20 frames to determine the frame rate: two seconds of a slow camera.
            // These frames then arrive all at once, which looks like jitter to viewers.
            av_dict_set(&settings, "fpsprobesize", "4", 0)
            return url
        }
    }

    private func failure(_ result: Int32, whileDoing what: String) -> IoTError {
        let name = address.redacted
        if gate.isCancelled { return IoTError(.stopping, "\(what) \(name) was cancelled") }
        if gate.didTimeOut || result == cffmpeg_error(ETIMEDOUT) {
            return IoTError(
                .sourceUnreachable, "the source \(name) did not answer in time",
                underlying: LibAVError(cffmpeg_error(ETIMEDOUT)))
        }
        let cause = LibAVError(result)
        let reason = cause.description
        switch result {
        case LibAVError.outOfMemory:
            return .outOfMemory()
        // libav returns "invalid argument" for a format that is not on the whitelist.
        case LibAVError.invalidData, cffmpeg_error_protocol_not_found(), cffmpeg_error(EINVAL):
            return address.isLive
                ? IoTError(
                    .sourceUnsupported, "the server at \(name) is not an RTSP camera: \(reason)",
                    remedy: "check the host and the port in the URL", underlying: cause)
                : IoTError(
                    .sourceUnsupported, "the file \(name) is not a video in a supported format: \(reason)",
                    remedy: "use MP4, Matroska, MPEG-TS, H.264 or H.265 files", underlying: cause)
        case cffmpeg_error_unauthorized(), cffmpeg_error_forbidden():
            return IoTError(
                .sourceRefused, "the source \(name) refused the user name or password", underlying: cause)
        case cffmpeg_error_http_not_found():
            return IoTError(.sourceNotFound, "the camera has no stream at \(name)", underlying: cause)
        case cffmpeg_error(ENOENT), cffmpeg_error(ENOTDIR):
            return IoTError(
                .sourceNotFound, "there is no file \(name)",
                remedy: "check the path and that the daemon's user can see it", underlying: cause)
        default:
            return IoTError(
                .sourceUnreachable, "\(what) the source \(name) failed: \(reason)",
                remedy: address.isLive ? nil : "check that the file exists and that the daemon's user may read it",
                underlying: cause)
        }
    }
}
