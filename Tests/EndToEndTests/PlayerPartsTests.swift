import Foundation
import Testing

/// The example program with player parts of its own (docs/player-parts.md).
@Suite(.serialized, .timeLimit(.minutes(2))) struct PlayerPartsTests {
    /// The mean brightness of each key frame's negative, rounded down.
    private static func negatives(of clip: String) async throws -> (size: String, brightness: Set<Int>) {
        let outcome = try await Program.named(
            "ffprobe",
            ["-v", "error", "-select_streams", "v:0", "-show_entries", "stream=width,height", "-of", "csv=p=0", clip]
        ).run()
        let sides = outcome.text.trimmingCharacters(in: .whitespacesAndNewlines).split(separator: ",").compactMap {
            Int($0)
        }
        try #require(sides.count == 2, "\(outcome.errors)")
        let pictures = try await Program.named(
            "ffmpeg",
            [
                "-v", "error", "-skip_frame", "nokey", "-i", clip, "-an", "-fps_mode", "passthrough", "-pix_fmt",
                "yuv420p", "-f", "rawvideo", "-",
            ]
        ).run().output
        let (luma, size) = (sides[0] * sides[1], sides[0] * sides[1] * 3 / 2)
        try #require(!pictures.isEmpty && pictures.count % size == 0)
        let means = stride(from: 0, to: pictures.count, by: size).map { start in
            pictures[start..<(start + luma)].reduce(0) { $0 + 255 - Int($1) } / luma
        }
        return ("\(sides[0])x\(sides[1])", Set(means))
    }

    /// Binds an account of its own to the camera: a second session of the daemon's would end the first.
    ///
    /// - Returns: The file with the account's enrolment, and the device's id.
    private func invite(to daemon: RunningDaemon) async throws -> (file: String, id: String) {
        let listed = try await daemon.iotctl("device", "list", "--json")
        let id = try #require(listed.text.firstMatch(of: /[0-9a-f]{32}/)).output
        let actions = ["--action", "view", "--action", "talk"]
        for arguments in [["user", "create", "bob"], ["device", "bind", "front", "bob"] + actions] {
            try #require(try await daemon.iotctl(arguments).status == 0)
        }
        let enrolment = try await daemon.iotctl("token", "create", "--enrol", "--user", "bob")
        try #require(enrolment.status == 0, "\(enrolment.errors)")
        let file = daemon.folder.path("enrolment")
        try enrolment.text.write(toFile: file, atomically: true, encoding: .utf8)
        return (file, String(id))
    }

    @Test("In a live call of the example, the camera's owner sees the pictures that the program makes")
    func call() async throws {
        let folder = try TemporaryFolder()
        let daemon = try await RunningDaemon(
            folder: folder,
            configuration: """
                cameras:
                  - {name: front, url: \(Product.sample("street-h264-aac.mp4")), live: accept}
                """)
        let (file, id) = try await invite(to: daemon)
        let caller = try BackgroundProgram([Product.program("player-parts"), file, id, "1000", "call"])
        try await eventually("the call") {
            try await daemon.iotctl("property", "read", "front", "ProReadonly.liveCalls.stVal").text == "\"busy\"\n"
        }
        let seen = folder.path("seen.y4m")
        let outcome = try await daemon.iotctl(
            "monitor", "front", "--source", "caller", "--frames", "3", "--raw-video", seen)
        #expect(outcome.status == 0 && outcome.text.contains("320x240"), "\(outcome)")
        let frames = try Data(contentsOf: URL(fileURLWithPath: seen))
        let header = try #require(frames.range(of: Data("FRAME\n".utf8)))
        let luma = frames[header.upperBound...].prefix(320 * 240)
        #expect(luma.count == 320 * 240 && luma.allSatisfy { (96...102).contains($0) })
        caller.send(SIGTERM)
        _ = await caller.ended()
        #expect(await daemon.stop() == 0)
    }

    @Test("The example's decoder, processor and renderer replace the built-in ones: it prints negatives of key frames")
    func example() async throws {
        let clip = Product.sample("street-h264-aac.mp4")
        let daemon = try await RunningDaemon(cameras: ["front": clip])
        let (file, id) = try await invite(to: daemon)
        let outcome = try await Program(
            path: Product.program("player-parts"), arguments: [file, id, "2"]
        ).run()
        #expect(outcome.status == 0, "\(outcome.errors)")
        let (size, brightness) = try await Self.negatives(of: clip)
        let lines = outcome.text.split(separator: "\n").map(String.init)
        let expected = Set(brightness.map { "picture \(size) brightness \($0)" })
        #expect(lines.count == 2 && Set(lines).isSubset(of: expected), "\(lines), not of \(expected)")
    }
}
