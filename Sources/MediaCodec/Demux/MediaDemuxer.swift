import CFFmpeg
public import IoTCore

/// Reads a camera source, a file or an RTSP server, frame by frame.
///
/// Blocks its caller: use it on a thread of its own, by one thread at a time. `DemuxerCancellation` ends a blocking
/// call from another. The first supported video and the first supported audio track are read; a track in another
/// codec is named in `unsupportedTracks` and left out.
public final class MediaDemuxer {
    /// µs; frames of later times are passed over.
    static let latestTime: Int64 = 1 << 55

    private let input: FormatInput
    private var videoTrack: VideoTrackReader?
    private var audioTrack: AudioTrackReader?
    private var videoIndex: Int32 = -1
    private var audioIndex: Int32 = -1
    // What has been read and not yet been asked for: filled at the start and by one packet at a time.
    private var ready: [ReadFrame] = []
    private var nextReady = 0
    private var didReachEnd = false
    private var discontinuous: Set<MediaKind> = []

    /// What the source also has and the product does not carry, by codec name: "audio mp3".
    public private(set) var unsupportedTracks: [String] = []

    /// True when the frame read last is needed for decoding but stands outside of an MP4 edit list: decode it
    /// (`VideoDecoder.decode(_:isShown:)`), and do not show it.
    public private(set) var isDecodeOnly = false

    private struct ReadFrame {
        var frame: MediaFrame
        var isDecodeOnly: Bool
    }

    /// - Parameters:
    ///   - url: A path, a `file://` URL, or an `rtsp://` URL.
    ///   - cancellation: Ends this initialiser and every later call from another thread.
    /// - Throws: `sourceUnsupported` (scheme, format or every codec), `sourceUnreachable` (refused, timed out),
    ///   `sourceHostUnknown`, `sourceNotFound` (no such file or stream), `sourceRefused` (the password), `stopping`
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
                remedy: address.isLive ? nil : "convert the file, such as with ffmpeg")
        }
        try readAhead()
    }

    /// The video track as known now; changes when the stream's parameter sets do.
    public var video: VideoParameters? { videoTrack?.parameters }

    /// The audio track as known now.
    public var audio: AudioParameters? { audioTrack?.parameters }

    /// The next frame in the order of the source, each track in decoding order; nil at the end of a file.
    ///
    /// - Throws: `sourceUnreachable` (a live source fell silent or away), `stopping` (cancelled), `mediaFailed`.
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

    /// Starts a file again from its first frame. Times start again too; the first frame of each kind is marked as a
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
            // Where each frame follows the one before, even a duration can lead there.
            guard max(frame.pts.magnitude, frame.dts.magnitude) < 2 * Self.latestTime.magnitude else { continue }
            if discontinuous.remove(frame.kind) != nil { frame.isDiscontinuity = true }
            ready.append(ReadFrame(frame: frame, isDecodeOnly: isDecodeOnly))
        }
    }

    // Some sources tell a track's parameters only in its first frames (ADTS, RTSP without sprop-parameter-sets), and
    // whoever opens a source must know them before the first frame. Bounded in frames, and in time by the opening's.
    private func readAhead() throws(IoTError) {
        for _ in 0..<1024 where !didReachEnd && ready.count < 256 {
            let lacksSound = audioTrack.map { $0.parameters.codec == .aac && $0.parameters.audioSpecificConfig.isEmpty }
            let lacksPicture = videoTrack.map { $0.parameters.parameterSets.isEmpty || $0.parameters.width == 0 }
            guard lacksSound == true || lacksPicture == true else { return }
            do throws(IoTError) {
                try readMore(restartingTimeout: false)
            } catch {
                // What is there may still be enough; if the source is gone, the next read says so.
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
