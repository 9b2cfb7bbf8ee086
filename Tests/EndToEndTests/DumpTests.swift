import Foundation
import Testing

/// `iotctl monitor --dump`: real channels, read by ffmpeg.
@Suite(.timeLimit(.minutes(2))) struct DumpTests {
    private struct Case: Sendable {
        let clip: String
        let video: String
        let audio: String
    }

    private static let cases = [
        Case(clip: "street-h264-aac.mp4", video: "h264", audio: "adts"),
        Case(clip: "street-h265-aac.mp4", video: "h265", audio: "adts"),
        Case(clip: "street-h264-bframes-pcma.mkv", video: "h264", audio: "wav"),
    ]

    @Test("A dump has each track at each point of the player, for its owner only, and ffmpeg decodes all of it")
    func dumps() async throws {
        let cameras = Self.cases.map { ($0.clip, Product.sample($0.clip)) }
        let daemon = try await RunningDaemon(cameras: Dictionary(uniqueKeysWithValues: cameras))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for example in Self.cases { group.addTask { try await Self.expectDump(example, daemon) } }
            try await group.waitForAll()
        }
        #expect(await daemon.stop() == 0)
    }

    private static func expectDump(_ example: Case, _ daemon: RunningDaemon) async throws {
        let directory = daemon.folder.path("dump-" + example.clip)
        let outcome = try await daemon.iotctl("monitor", example.clip, "--duration", "3s", "--dump", directory)
        try #require(outcome.status == 0, "\(outcome.errors)\n\(daemon.log)")
        let names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        #expect(
            names == [
                "01-received-audio.\(example.audio)", "01-received-video.\(example.video)",
                "02-into-decoder-audio.\(example.audio)", "02-into-decoder-video.\(example.video)",
                "03-out-of-decoder-audio.wav", "03-out-of-decoder-video.y4m",
            ])
        for name in names {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory)/\(name)")
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
            let decoded = try await Program.named(
                "ffmpeg", ["-v", "error", "-i", "\(directory)/\(name)", "-f", "null", "-"]
            ).run()
            #expect(decoded.status == 0 && decoded.errors == "", "\(name): \(decoded.errors)")
        }

        let source = try await FrameDigests.of(Product.sample(example.clip))
        var pictures: [[String]] = []
        for name in ["01-received-video.\(example.video)", "02-into-decoder-video.\(example.video)"] {
            // The end may be in the middle of a group of B-frames.
            let digests = try await FrameDigests.of("\(directory)/\(name)").dropLast(3)
            #expect(digests.count >= 20 && FrameDigests.position(of: digests, inRepeated: source) != nil, "\(name)")
            pictures.append(Array(digests))
        }
        let shown = try await FrameDigests.of("\(directory)/03-out-of-decoder-video.y4m")
        let common = min(shown.count, pictures[1].count)
        #expect(common >= 20 && shown.prefix(common) == pictures[1].prefix(common), "\(shown.count) pictures")
        #expect(pictures[0].starts(with: pictures[1]))
        // Seconds of sound, at least.
        for name in names where name.contains("audio") {
            let length = try await Program.named(
                "ffmpeg", ["-v", "error", "-i", "\(directory)/\(name)", "-f", "s16le", "-ar", "8000", "-ac", "1", "-"]
            ).run().output.count
            #expect(length >= 2 * 8000 * 2, "\(name): \(length) bytes")
        }
    }
}
