import CFFmpeg
public import IoTCore

/// Reads a camera source, a file or an RTSP server, frame by frame.
///
/// Blocks its caller: use it on its own thread, and only from one thread at a time. `DemuxerCancellation` cancels a
/// blocking call from another thread. The first supported video track and the first supported audio track are read.
/// Tracks with other codecs are listed in `unsupportedTracks` and skipped.
public final class MediaDemuxer {
    /// In µs; frames with later times are dropped.
    static let latestTime: Int64 = 1 << 55

    private let input: FormatInput
    private var videoTrack: VideoTrackReader?
    private var audioTrack: AudioTrackReader?
    private var videoIndex: Int32 = -1
    private var audioIndex: Int32 = -1
    // Frames that were read but not yet returned: from opening, and later from one packet at a time.
    private var ready: [ReadFrame] = []
    private var nextReady = 0
    private var didReachEnd = false
    private var discontinuous: Set<MediaKind> = []

    /// The source's tracks with unsupported codecs: "audio mp3".
    public private(set) var unsupportedTracks: [String] = []

    /// True if the last frame is needed for decoding but is outside an MP4 edit list: decode it
    /// (`VideoDecoder.decode(_:isShown:)`), but do not show it.
    public private(set) var isDecodeOnly = false

    private struct ReadFrame {
        var frame: MediaFrame
        var isDecodeOnly: Bool
    }

    /// - Parameters:
    ///   - url: A path, a `file://` URL, or an `rtsp://` URL.
    ///   - cancellation: Cancels this initialiser and every later call from another thread.
    /// - Throws: `sourceUnsupported` (scheme, format or all codecs), `sourceUnreachable` (connection refused, timeout),
    ///   `sourceHostUnknown`, `sourceNotFound` (no such file or stream), `sourceRefused` (wrong password), `stopping`
    ///   (cancelled).
    public init(
        url: String, options: DemuxerOptions = DemuxerOptions(),
        cancellation: DemuxerCancellation = DemuxerCancellation()
    ) throws(IoTError) {
        let address = try SourceAddress(url)
        input = try FormatInput(address: address, options: options, cancellation: cancellation)
        pickTracks()
        guard videoTrack != nil || audioTrack != nil else {
            let found = unsupportedTracks.isEmpty ? "no track" : unsupportedTracks.joined(separator: ", ")
            throw IoTError(
                .sourceUnsupported, "the source \(address.redacted) has \(found); it needs H.264, H.265, AAC or G.711",
                remedy: address.isLive ? nil : "convert the file, for example with ffmpeg")
        }
        try readAhead()
    }

    /// The video track's current parameters; they change with the stream's parameter sets.
    public var video: VideoParameters? { videoTrack?.parameters }

    /// The audio track's current parameters.
    public var audio: AudioParameters? { audioTrack?.parameters }

    /// The next frame in the source's order, with each track in decoding order; nil at the end of a file.
    ///
    /// - Throws: `sourceUnreachable` (a live source stopped sending or closed the connection), `stopping` (cancelled),
    ///   `mediaFailed`.
    public func readFrame() throws(IoTError) -> MediaFrame? {
        while true {
            if nextReady < ready.count {
                defer { nextReady += 1 }
                isDecodeOnly = ready[nextReady].isDecodeOnly
                return ready[nextReady].frame
            }
            ready.removeAll(keepingCapacity: true)
            nextReady = 0
            guard !didReachEnd else { return nil }
            try readMore(restartingTimeout: true)
        }
    }

    /// Starts a file again from its first frame. Times also start again. The first frame of each kind is marked as a
    /// discontinuity.
    public func rewind() throws(IoTError) {
        try input.rewind()
        input.keepOnly([videoIndex, audioIndex])
        videoTrack?.rewind()
        audioTrack?.rewind()
        ready = []
        nextReady = 0
        didReachEnd = false
        discontinuous = [.video, .audio]
    }

    private func readMore(restartingTimeout: Bool) throws(IoTError) {
        guard let packet = try input.readPacket(restartingTimeout: restartingTimeout) else {
            didReachEnd = true
            append(try videoTrack?.finish() ?? [], isDecodeOnly: false)
            append(audioTrack?.finish() ?? [], isDecodeOnly: false)
            return
        }
        let isDecodeOnly = packet.pointee.flags & AV_PKT_FLAG_DISCARD != 0
        if packet.pointee.stream_index == videoIndex, let videoTrack {
            append(try videoTrack.read(packet), isDecodeOnly: isDecodeOnly)
        } else if packet.pointee.stream_index == audioIndex, let audioTrack {
            append(audioTrack.read(packet), isDecodeOnly: false)
        }
    }

    private func append(_ frames: [MediaFrame], isDecodeOnly: Bool) {
        for var frame in frames {
            // Checked again here, because times derived from the previous frame and a duration can also become too
            // large.
            guard max(frame.pts.magnitude, frame.dts.magnitude) < 2 * Self.latestTime.magnitude else { continue }
            if discontinuous.remove(frame.kind) != nil { frame.isDiscontinuity = true }
            ready.append(ReadFrame(frame: frame, isDecodeOnly: isDecodeOnly))
        }
    }

    // Some sources send a track's parameters only with its first frames (ADTS, RTSP without sprop-parameter-sets), but
    // users need them before the first frame. The number of frames is limited here, and the time by the timeout of the
    // opening.
    private func readAhead() throws(IoTError) {
        for _ in 0..<1024 where !didReachEnd && ready.count < 256 {
            let lacksSound = audioTrack.map { $0.parameters.codec == .aac && $0.parameters.audioSpecificConfig.isEmpty }
            let lacksPicture = videoTrack.map { $0.parameters.parameterSets.isEmpty || $0.parameters.width == 0 }
            guard lacksSound == true || lacksPicture == true else { return }
            do throws(IoTError) {
                try readMore(restartingTimeout: false)
            } catch {
                // The parameters read so far may be sufficient. If the source has failed, the next read reports it.
                guard error.code == .stopping else { return }
                throw error
            }
        }
    }

    private func pickTracks() {
        for stream in input.streams {
            guard let coded = stream.pointee.codecpar else { continue }
            // A cover picture is not video.
            let isPicture = stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0
            switch coded.pointee.codec_type {
            case AVMEDIA_TYPE_VIDEO where !isPicture:
                if videoTrack == nil, let codec = VideoCodec(coded.pointee.codec_id) {
                    videoTrack = VideoTrackReader(stream, codec: codec, isLive: input.isLive)
                    videoIndex = stream.pointee.index
                } else if VideoCodec(coded.pointee.codec_id) == nil {
                    unsupportedTracks.append("video \(Self.name(coded.pointee.codec_id))")
                }
            case AVMEDIA_TYPE_AUDIO:
                if audioTrack == nil, let track = AudioTrackReader(stream, isLive: input.isLive) {
                    audioTrack = track
                    audioIndex = stream.pointee.index
                } else if audioTrack == nil {
                    unsupportedTracks.append("audio \(Self.name(coded.pointee.codec_id))")
                }
            default:
                continue
            }
        }
        input.keepOnly([videoIndex, audioIndex])
    }

    private static func name(_ id: AVCodecID) -> String {
        avcodec_get_name(id).map { String(cString: $0) } ?? "unknown"
    }
}
