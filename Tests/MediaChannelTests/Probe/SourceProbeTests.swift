import Foundation
import IoTCore
import MediaPlayer
import NIOCore
import Testing

@testable import MediaChannel

/// Tests real clips, read without waiting for their pace.
@Suite struct SourceProbeTests {
    private func probe(_ clip: String, wantsPicture: Bool = false) async throws(IoTError) -> SourceReport {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Samples/\(clip)").standardizedFileURL.path
        let probe = SourceProbe(CameraSettings(name: "x", url: path), wantsPicture: wantsPicture)
        let result = await withCheckedContinuation { continuation in
            probe.start { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    @Test("The measurements match the clip")
    func clips() async throws {
        let h265 = try await probe("street-h265-aac.mp4", wantsPicture: true)
        let video = try #require(h265.video)
        #expect(video.codec == .h265 && video.profile == "Main" && video.level == "3")
        #expect(video.width == 768 && video.height == 576 && abs(video.frameRate - 10) < 0.1)
        #expect(video.keyFrameDistance == 2 && !video.hasBFrames && video.isDecoded)
        #expect(video.browsers.answer == .some)
        let audio = try #require(h265.audio)
        #expect(audio.codec == .aac && audio.browsers.answer == .yes && (audio.bitrate ?? 0) > 10_000)
        let picture = try #require(h265.picture)
        #expect(picture.width == 768 && picture.bytes.readableBytesView.starts(with: [0xFF, 0xD8, 0xFF]))

        let reordered = try await probe("street-h264-bframes-pcma.mkv")
        #expect(reordered.video?.hasBFrames == true && reordered.video?.browsers.answer == .no)
        #expect(reordered.audio?.codec == .pcma && reordered.picture == nil)
        // It has only one key frame, the first.
        let far = try await probe("bunny-h264-aac51.mp4")
        #expect(far.video?.keyFrameDistance == nil && far.video?.browsers.answer == .yes && far.measured > 4)
        let soundOnly = try await probe("noise-he-aac.m4a", wantsPicture: true)
        #expect(soundOnly.video == nil && soundOnly.picture == nil && soundOnly.audio != nil)
    }

    @Test("A file without media and a missing file have different error numbers")
    func failures() async throws {
        for (clip, code) in [("README.md", ErrorCode.sourceUnsupported), ("nothing.mp4", .sourceNotFound)] {
            let error = await #expect(throws: IoTError.self) { _ = try await probe(clip) }
            #expect(error?.code == code)
        }
    }
}
