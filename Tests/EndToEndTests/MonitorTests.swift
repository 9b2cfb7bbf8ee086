import Foundation
import Testing

/// What comes out of a channel is what the camera saw: each frame, once, in order, from the first to the last.
@Suite(.serialized, .timeLimit(.minutes(3))) struct MonitorTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let file: String
        let frames: Int
        let audioCodec: String
        let channels: Int
        /// Frames that may stand at a recording's end behind others that had not come yet.
        var reordered = 0

        var testDescription: String { file }
    }

    static let samples = [
        Sample(file: "street-h264-aac.mp4", frames: 200, audioCodec: "aac", channels: 1),
        Sample(file: "street-h265-aac.mp4", frames: 80, audioCodec: "aac", channels: 1),
        Sample(file: "street-h264-bframes-pcma.mkv", frames: 82, audioCodec: "aac", channels: 1, reordered: 3),
        Sample(file: "bunny-h264-aac51.mp4", frames: 132, audioCodec: "aac", channels: 6),
    ]

    @Test("A file camera's raw video and recording hold exactly ffmpeg's frames, over its loop, and its sound")
    func fileCameras() async throws {
        let cameras = Dictionary(
            uniqueKeysWithValues: Self.samples.enumerated().map { ("cam\($0.offset)", Product.sample($0.element.file)) }
        )
        let daemon = try await RunningDaemon(cameras: cameras)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, sample) in Self.samples.enumerated() {
                group.addTask { try await Self.monitor(daemon, "cam\(index)", sample, Product.sample(sample.file)) }
            }
            try await group.waitForAll()
        }
        #expect(await daemon.stop() == 0)
    }

    @Test("An RTSP camera's raw video and recording hold exactly the frames that its server sent")
    func rtspCamera() async throws {
        let file = Product.sample("street-h264-aac.mp4")
        let server = try await RTSPServer(file: file)
        let daemon = try await RunningDaemon(cameras: ["door": server.url])
        try await Self.monitor(
            daemon, "door", Sample(file: "street-h264-aac.mp4", frames: 60, audioCodec: "aac", channels: 1), file,
            wraps: false)
        await daemon.stop()
        server.stop()
    }

    static func monitor(
        _ daemon: RunningDaemon, _ camera: String, _ sample: Sample, _ file: String, wraps: Bool = true
    ) async throws {
        let folder = try TemporaryFolder()
        // Twice round, less one: wherever it begins, one whole round from the first to the last is in it.
        let count = wraps ? sample.frames * 2 - 1 : sample.frames
        let outcome = try await daemon.iotctl([
            "monitor", camera, "--frames", "\(count)", "--raw-video", folder.path("v.y4m"), "--record",
            folder.path("r.mp4"), "--raw-audio", folder.path("a.wav"), "--snapshot", folder.path("s.png"), "--json",
        ])
        try #require(outcome.status == 0, "\(camera): \(outcome.errors)\n\(daemon.log)")
        let source = try await FrameDigests.of(file)
        let raw = try await FrameDigests.of(folder.path("v.y4m"))
        #expect(raw.count == count)
        #expect(
            FrameDigests.position(of: raw, inRepeated: source) != nil,
            "\(camera): raw video differs\n\(String(decoding: outcome.output, as: UTF8.self))")

        let recorded = try await FrameDigests.of(folder.path("r.mp4"))
        #expect(recorded.count >= count - 8, "\(camera): \(recorded.count) frames recorded of \(count)")
        #expect(
            FrameDigests.position(of: recorded.dropLast(sample.reordered), inRepeated: source) != nil,
            "\(camera): the recording differs")
        let played = try await Program.named("ffmpeg", ["-v", "error", "-i", folder.path("r.mp4"), "-f", "null", "-"])
            .run()
        #expect(played.status == 0 && played.errors == "", "\(camera): \(played.errors)")

        let length = try await seconds(of: folder.path("v.y4m"))
        for (sound, name) in [(folder.path("r.mp4"), "recorded"), (folder.path("a.wav"), "raw")] {
            let duration = try await seconds(of: sound, stream: "a:0")
            #expect(
                abs(duration - length) < 0.9, "\(camera): \(duration) s of \(name) sound for \(length) s of picture")
            let level = try await meanLevel(of: sound)
            let expected = try await meanLevel(of: file)
            #expect(abs(level - expected) < 3, "\(camera): \(name) sound at \(level) dB for \(expected) dB")
        }
        let png = try Data(contentsOf: URL(fileURLWithPath: folder.path("s.png")))
        #expect(png.starts(with: [0x89, 0x50, 0x4E, 0x47]))
    }

    @Test("A snapshot is the frame of its own pts")
    func snapshot() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": Product.sample("bunny-h264-aac51.mp4")])
        let folder = try TemporaryFolder()
        let outcome = try await daemon.iotctl(
            "monitor", "front", "--frames", "40", "--raw-video", folder.path("v.y4m"), "--snapshot",
            folder.path("s.png"), "--json")
        try #require(outcome.status == 0, "\(outcome.errors)")
        let summary = try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any]
        let files = try #require(summary?["files"] as? [[String: Any]])
        let pts = try #require(files.first { $0["kind"] as? String == "snapshot" }?["pts"] as? Int)
        let channel = summary?["channel"] as? [String: Any]
        let first = try #require((channel?["statistics"] as? [String: Any])?["firstPicturePts"] as? Int)
        // 25 frames a second.
        let index = Int((Double(pts - first) / 40_000).rounded())
        try #require((0..<40).contains(index), "the snapshot lies outside the raw video")
        var distances: [Int: Double] = [:]
        for candidate in max(0, index - 3)...min(39, index + 3) {
            distances[candidate] = try await Self.difference(
                of: folder.path("s.png"), from: candidate, of: folder.path("v.y4m"))
        }
        let nearest = distances.min { $0.value < $1.value }
        #expect(nearest?.key == index, "\(distances)")
        await daemon.stop()
    }

    /// The mean squared difference of a picture from one frame of a video, in RGB.
    private static func difference(of picture: String, from index: Int, of video: String) async throws -> Double {
        func pixels(_ arguments: [String]) async throws -> Data {
            let outcome = try await Program.named(
                "ffmpeg", ["-v", "error"] + arguments + ["-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
            ).run()
            try #require(outcome.status == 0 && !outcome.output.isEmpty, "\(outcome.errors)")
            return outcome.output
        }
        let one = try await pixels(["-i", picture])
        let other = try await pixels(["-i", video, "-vf", "select=eq(n\\,\(index))"])
        try #require(one.count == other.count)
        let sum = zip(one, other).reduce(into: 0) { $0 += (Int($1.0) - Int($1.1)) * (Int($1.0) - Int($1.1)) }
        return Double(sum) / Double(one.count)
    }

    private static func seconds(of file: String, stream: String = "v:0") async throws -> Double {
        let outcome = try await Program.named(
            "ffprobe",
            ["-v", "error", "-select_streams", stream, "-show_entries", "stream=duration", "-of", "csv=p=0", file]
        ).run()
        return try #require(Double(outcome.text.trimmingCharacters(in: .whitespacesAndNewlines)), "\(outcome.text)")
    }

    private static func meanLevel(of file: String) async throws -> Double {
        let outcome = try await Program.named(
            "ffmpeg", ["-i", file, "-map", "0:a:0", "-af", "volumedetect", "-f", "null", "-"]
        ).run()
        let line = try #require(outcome.errors.split(separator: "\n").first { $0.contains("mean_volume") })
        return try #require(line.split(separator: " ").dropLast().last.flatMap { Double($0) })
    }
}
