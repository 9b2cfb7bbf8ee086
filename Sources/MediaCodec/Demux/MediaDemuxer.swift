import CFFmpeg
public import IoTCore

/// Reads a camera source, a file or an RTSP server, frame by frame.
///
/// Blocks its caller: use it on a thread of its own, by one thread at a time. `DemuxerCancellation` ends a blocking
/// call from another. The first supported video and the first supported audio track are read; a track in another
/// codec is named in `unsupportedTracks` and left out.
public final class MediaDemuxer {
    private let input: FormatInput
    private var videoTrack: VideoTrackReader?
    private var audioTrack: AudioTrackReader?
    private var videoIndex: Int32 = -1
    private var audioIndex: Int32 = -1
    private var ready: [MediaFrame] = []
    private var nextReady = 0
    private var didReachEnd = false
    private var discontinuous: Set<MediaKind> = []

    /// What the source also has and the product does not carry, by codec name: "audio mp3".
    public private(set) var unsupportedTracks: [String] = []

    /// True when the frame read last is needed for decoding but stands outside of an MP4 edit list: decode it
    /// (`VideoDecoder.decode(_:isShown:)`), and do not show it.
    public private(set) var isDecodeOnly = false

    /// - Parameters:
    ///   - url: A path, a `file://` URL, or an `rtsp://` URL.
    ///   - cancellation: Ends this initialiser and every later call from another thread.
    /// - Throws: `sourceUnsupported` (scheme, format or every codec), `sourceUnreachable` (missing, refused, timed
    ///   out), `stopping` (cancelled).
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
                .sourceUnsupported,
                "The source \(address.redacted) has \(found). Video must be H.264 or H.265, audio AAC or G.711.")
        }
    }

    /// The video track as known now; changes when the stream's parameter sets do.
    public var video: VideoParameters? { videoTrack?.parameters }

    /// The audio track as known now.
    public var audio: AudioParameters? { audioTrack?.parameters }

    /// Packets passed over: unreadable, not understood, or before the first key frame.
    public var skippedPackets: Int {
        input.unreadable + (videoTrack?.skippedBeforeKeyFrame ?? 0) + (audioTrack?.skipped ?? 0)
    }

    /// The next frame in the order of the source, each track in decoding order; nil at the end of a file.
    ///
    /// - Throws: `sourceUnreachable` (a live source fell silent or away), `stopping` (cancelled), `mediaFailed`.
    public func readFrame() throws(IoTError) -> MediaFrame? {
        while true {
            if nextReady < ready.count {
                defer { nextReady += 1 }
                return ready[nextReady]
            }
            ready.removeAll(keepingCapacity: true)
            nextReady = 0
            guard !didReachEnd else { return nil }
            guard let packet = try input.readPacket() else {
                didReachEnd = true
                ready = videoTrack?.finish() ?? []
                continue
            }
            try take(packet)
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

    private func take(_ packet: UnsafeMutablePointer<AVPacket>) throws(IoTError) {
        if packet.pointee.stream_index == videoIndex, let videoTrack {
            ready = try videoTrack.read(packet)
            isDecodeOnly = packet.pointee.flags & AV_PKT_FLAG_DISCARD != 0
        } else if packet.pointee.stream_index == audioIndex, let frame = audioTrack?.read(packet) {
            ready = [frame]
            isDecodeOnly = false
        }
        if let kind = ready.first?.kind, discontinuous.remove(kind) != nil {
            ready[0].isDiscontinuity = true
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
                if audioTrack == nil, let track = AudioTrackReader(stream) {
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
