import IoTCore
import MediaCodec
import NIOCore
import RTSP

/// Reads an RTSP camera with our own client. Completes the tracks' parameters from the key frames, and makes MPEG audio
/// (MP3) into AAC, so that only this reader handles it.
final class RTSPCameraReader: SourceReader {
    private let input: RTSPInput
    private var ready = CircularBuffer<MediaFrame>()
    private var transcoder: MPEGAudioTranscoder?
    /// Whether the sound cannot be used, so that its frames are dropped.
    private var isSilent = false
    private(set) var video: VideoParameters?
    private(set) var audio: AudioParameters?
    private(set) var unsupportedTracks: [String]

    /// The largest number of frames that are read to find the first key frame.
    private static let searchLimit = 1_024

    /// The encoding names that libav reads, of which the client does not support every form: LATM (RFC 3016), G.711 at
    /// other rates, and interleaved modes.
    private static let codecsOfLibAV: [MediaKind: Set<String>] = [
        .video: ["h264", "h265"], .audio: ["mp4a-latm", "mpeg4-generic", "pcma", "pcmu"],
    ]

    /// - Returns: `nil` for a URL that only libav reads.
    /// - Throws: The same errors as `MediaDemuxer`; with `OtherReaderNeeded` if libav supports more of the tracks. Then
    ///   the connection is closed already.
    init?(
        _ settings: CameraSettings, eventLoop: (any EventLoop)?, cancellation: DemuxerCancellation
    ) throws(IoTError) {
        guard var configuration = settings.rtspConfiguration else { return nil }
        configuration.codecsOfOtherReader = Self.codecsOfLibAV
        let input = RTSPInput(configuration, eventLoop: eventLoop)
        self.input = input
        cancellation.onCancel { [weak input] in input?.cancel() }
        let tracks = try input.open()
        video = tracks.video
        unsupportedTracks = tracks.unsupported
        begin(tracks.audio)
        try completeVideo()
    }

    func readFrame() throws(IoTError) -> MediaFrame? {
        while true {
            if let frame = ready.popFirst() { return frame }
            try receive()
        }
    }

    /// The next of the frames that were read to find the first key frame.
    func nextSearched() -> MediaFrame? { ready.popFirst() }

    /// Whether the frames need no work that takes longer than an event loop may.
    var canDeliver: Bool { transcoder == nil }

    /// Passes each frame to `receiver` on the event loop, and waits until the camera fails. Only if `canDeliver`.
    func deliver(to receiver: @escaping @Sendable (MediaFrame) -> Void) throws(IoTError) -> Never {
        let isSilent = isSilent
        try input.deliver { frame in
            if frame.kind == .video || !isSilent { receiver(frame) }
        }
    }

    private func begin(_ sound: CameraSound?) {
        switch sound {
        case nil: break
        case .coded(let parameters): audio = parameters
        case .mpeg:
            do throws(IoTError) {
                let transcoder = try MPEGAudioTranscoder()
                audio = transcoder.parameters
                self.transcoder = transcoder
            } catch {
                // Another build of libavcodec. The picture can still be shown.
                isSilent = true
                unsupportedTracks.append("audio MPA")
            }
        }
    }

    /// Waits for the next frame of the camera.
    private func receive() throws(IoTError) {
        let frame = try input.readFrame()
        if frame.kind == .video {
            noteVideo(frame)
            ready.append(frame)
        } else if let transcoder {
            ready.append(contentsOf: try transcoder.transcode(frame))
        } else if !isSilent {
            ready.append(frame)
        }
    }

    func rewind() throws(IoTError) {
        throw IoTError(.operationNotAllowed, "a live source cannot be rewound", remedy: "open it again")
    }

    /// Finds the size of the pictures, which is in the parameter sets. A description may lack them.
    private func completeVideo() throws(IoTError) {
        guard let described = video else { return }
        if let known = VideoParameters(codec: described.codec, parameterSets: described.parameterSets) {
            take(known)
            return
        }
        for _ in 0..<Self.searchLimit where video?.width == 0 { try receive() }
    }

    private func noteVideo(_ frame: MediaFrame) {
        guard frame.isKeyFrame, let codec = video?.codec,
            let known = VideoParameters(codec: codec, keyFrame: frame)
        else { return }
        take(known)
    }

    private func take(_ known: VideoParameters) {
        var parameters = known
        if parameters.frameRate == 0 { parameters.frameRate = video?.frameRate ?? 0 }
        video = parameters
    }
}
