import IoTCore
import MediaCodec
import NIOCore
import RTSP

/// Reads an RTSP camera with our own client. Completes the tracks' parameters from the key frames.
final class RTSPCameraReader: SourceReader {
    private let input: RTSPInput
    private var ready = CircularBuffer<MediaFrame>()
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
        audio = tracks.audio
        unsupportedTracks = tracks.unsupported
        try completeVideo()
    }

    func readFrame() throws(IoTError) -> MediaFrame? {
        if let frame = ready.popFirst() { return frame }
        let frame = try input.readFrame()
        noteVideo(frame)
        return frame
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
        for _ in 0..<Self.searchLimit where video?.width == 0 {
            let frame = try input.readFrame()
            noteVideo(frame)
            ready.append(frame)
        }
    }

    private func noteVideo(_ frame: MediaFrame) {
        guard frame.kind == .video, frame.isKeyFrame, let codec = video?.codec,
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
