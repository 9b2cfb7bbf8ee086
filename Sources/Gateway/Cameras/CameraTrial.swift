import Foundation
import GatewayAPI
import IoTCore
import MediaChannel
import MediaPlayer
import NIOCore

/// Tests a camera's source once, within a time limit.
struct CameraTrial {
    /// Longer than a test takes and shorter than a request may take. A name server that does not answer can take
    /// longer.
    private static let limit = Duration.seconds(40)

    private let source: CameraSettings
    private let wantsPicture: Bool

    /// - Parameter source: the settings for opening the source, with its secret.
    init(_ source: CameraSettings, wantsPicture: Bool = false) {
        self.source = source
        self.wantsPicture = wantsPicture
    }

    /// - Parameter part: held until the source is closed, even if the caller no longer waits.
    /// - Throws: why the source does not work.
    func run(holding part: QuotaPart) async throws -> CameraTestReport {
        let probe = SourceProbe(source, wantsPicture: wantsPicture)
        let ended = Readiness<SourceReport>()
        probe.start { result in
            withExtendedLifetime(part) { ended.settle(result.mapError { $0 as any Error }) }
        }
        defer { probe.cancel() }
        let tooLong = IoTError(.sourceUnreachable, "the source \(source.redactedURL) took too long to test")
        let report = try await within(Self.limit, orThrow: tooLong) { try await ended.wait() }
        return CameraTestReport(report, url: source.redactedURL)
    }
}

extension CameraTestReport {
    fileprivate init(_ report: SourceReport, url: String) {
        var tracks: [TestedTrack] = []
        if let video = report.video {
            tracks.append(
                TestedTrack(
                    track: TrackDescription(
                        .video(
                            VideoParameters(
                                codec: video.codec, width: video.width, height: video.height,
                                frameRate: (video.frameRate * 100).rounded() / 100)), bitrate: video.bitrate),
                    profile: video.profile, level: video.level, keyFrameSeconds: video.keyFrameDistance,
                    bFrames: video.hasBFrames, decoded: video.isDecoded,
                    browsers: TestedTrack.Browsers(video.browsers)))
        }
        if let audio = report.audio {
            tracks.append(
                TestedTrack(
                    track: TrackDescription(
                        .audio(
                            AudioParameters(
                                codec: audio.codec, sampleRate: audio.sampleRate, channels: audio.channels)),
                        bitrate: audio.bitrate),
                    browsers: TestedTrack.Browsers(audio.browsers)))
        }
        self.init(
            url: url, tracks: tracks, unsupportedTracks: report.unsupportedTracks, measuredSeconds: report.measured,
            picture: report.picture.map { picture in
                TestedPicture(
                    contentType: PictureFormat.jpeg.contentType, width: picture.width, height: picture.height,
                    data: Data(picture.bytes.readableBytesView))
            })
    }
}

extension TestedTrack.Browsers {
    fileprivate init(_ playback: BrowserPlayback) {
        let plays: TestedTrack.Playback =
            switch playback.answer {
            case .yes: .yes
            case .some: .some
            case .no: .no
            }
        self.init(plays: plays, reason: playback.reason)
    }
}
