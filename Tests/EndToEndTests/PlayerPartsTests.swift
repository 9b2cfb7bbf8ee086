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

    @Test("The example's decoder, processor and renderer replace the built-in ones: it prints negatives of key frames")
    func example() async throws {
        let clip = Product.sample("street-h264-aac.mp4")
        let daemon = try await RunningDaemon(cameras: ["front": clip])
        let listed = try await daemon.iotctl("device", "list", "--json")
        let id = try #require(listed.text.firstMatch(of: /[0-9a-f]{32}/)).output
        // An account of its own: a second session of the daemon's would end the first.
        for arguments in [["user", "create", "bob"], ["device", "bind", "front", "bob"]] {
            try #require(try await daemon.iotctl(arguments).status == 0)
        }
        let enrolment = try await daemon.iotctl("token", "create", "--enrol", "--user", "bob")
        try #require(enrolment.status == 0, "\(enrolment.errors)")
        let file = daemon.folder.path("enrolment")
        try enrolment.text.write(toFile: file, atomically: true, encoding: .utf8)

        let outcome = try await Program(
            path: Product.program("player-parts"), arguments: [file, String(id), "2"]
        ).run()
        #expect(outcome.status == 0, "\(outcome.errors)")
        let (size, brightness) = try await Self.negatives(of: clip)
        let lines = outcome.text.split(separator: "\n").map(String.init)
        let expected = Set(brightness.map { "picture \(size) brightness \($0)" })
        #expect(lines.count == 2 && Set(lines).isSubset(of: expected), "\(lines), not of \(expected)")
    }
}
