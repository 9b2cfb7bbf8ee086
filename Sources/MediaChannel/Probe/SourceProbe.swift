import Foundation
public import IoTCore
import MediaCodec
import MediaPlayer
import NIOCore

/// Tests a camera's source without adding the camera: opens it, measures it, and decodes a picture.
public final class SourceProbe: Sendable {
    /// The maximum time for measuring, in addition to opening.
    private static let measuringTime = TimeAmount.seconds(12)

    private let settings: CameraSettings
    private let wantsPicture: Bool
    private let cancellation = DemuxerCancellation()

    /// - Parameter wantsPicture: true if the report must contain a JPEG.
    public init(_ settings: CameraSettings, wantsPicture: Bool) {
        self.settings = settings
        self.wantsPicture = wantsPicture
    }

    /// Runs on its own thread. Takes at most about 30 s, except if a name server does not answer.
    ///
    /// - Parameter onEnd: called once, on that thread.
    public func start(onEnd: @escaping @Sendable (Result<SourceReport, IoTError>) -> Void) {
        let thread = Thread { [self] in
            ThreadName.set("probe")
            onEnd(Result { () throws(IoTError) in try probe() })
        }
        thread.stackSize = 1 << 20
        thread.start()
    }

    /// Ends the test soon, with `stopping`.
    public func cancel() {
        cancellation.cancel()
    }

    private func probe() throws(IoTError) -> SourceReport {
        // Opening takes at most 10 s, and so does waiting for a frame.
        var needsLibAV = false
        let reader = try settings.open(eventLoop: nil, needsLibAV: &needsLibAV, cancellation)
        var meter = SourceMeter(hasVideo: reader.video != nil)
        var trial = try reader.video.map { video throws(IoTError) in try PictureTrial(video) }
        let end = NIODeadline.now() + Self.measuringTime
        var isEmpty = true
        while !meter.isEnough, .now() < end {
            guard let frame = try reader.readFrame() else { break }
            isEmpty = false
            meter.take(frame)
            try trial?.take(frame)
        }
        if isEmpty { throw IoTError(.sourceUnsupported, "the source contains no frame") }
        trial?.finish()
        var picture: Snapshot?
        if wantsPicture, let decoded = trial?.picture { picture = try Snapshot(jpegOf: decoded, nil) }
        return SourceReport(
            video: reader.video.map { Self.report($0, meter, isDecoded: trial?.picture != nil) },
            audio: reader.audio.map { audio in
                SourceReport.Audio(
                    codec: audio.codec, sampleRate: audio.sampleRate, channels: audio.channels,
                    bitrate: meter.audioBitrate, browsers: BrowserPlayback(audio))
            },
            unsupportedTracks: reader.unsupportedTracks, measured: Double(meter.measured) / 1_000_000,
            picture: picture)
    }

    private static func report(_ video: VideoParameters, _ meter: SourceMeter, isDecoded: Bool) -> SourceReport.Video {
        let isReordered = meter.isReordered(depth: video.reorderDepth)
        return SourceReport.Video(
            codec: video.codec, profile: video.profile?.name, level: video.profile?.level, width: video.width,
            height: video.height, frameRate: meter.frameRate ?? video.frameRate, bitrate: meter.videoBitrate,
            keyFrameDistance: meter.keyFrameDistance, hasBFrames: isReordered, isDecoded: isDecoded,
            browsers: BrowserPlayback(video, isReordered: isReordered))
    }
}

/// Decodes a stream's frames until the first whole picture.
private struct PictureTrial {
    /// The maximum number of decoded frames: the rest of a damaged stream is not worth the work.
    private static let limit = 64

    private let decoder: VideoDecoder
    private var frames = 0
    private(set) var picture: VideoPicture?

    init(_ video: VideoParameters) throws(IoTError) {
        decoder = try VideoDecoder(video)
    }

    mutating func take(_ frame: MediaFrame) throws(IoTError) {
        guard picture == nil, frame.kind == .video, frames < Self.limit else { return }
        frames += 1
        picture = try decoder.decode(frame).first { !$0.isCorrupt }
    }

    /// Takes a picture that the decoder still holds into account.
    mutating func finish() {
        picture = picture ?? decoder.flush().first { !$0.isCorrupt }
    }
}
