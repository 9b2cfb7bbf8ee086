import Foundation
import Testing

/// The MD5 sums of a video's decoded frames, by ffmpeg.
enum FrameDigests {
    static func of(_ file: String) async throws -> [String] {
        let outcome = try await Program.named(
            "ffmpeg",
            ["-v", "error", "-i", file, "-map", "0:v:0", "-fps_mode", "passthrough", "-f", "framemd5", "-"]
        ).run()
        try #require(outcome.status == 0, "\(outcome.errors)")
        return outcome.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap {
            $0.split(separator: ",").last?.trimmingCharacters(in: .whitespaces)
        }
    }

    /// Where `frames` stand, without a gap, in the endless repetition of `source`; `nil` when they do not.
    static func position(of frames: some Collection<String>, inRepeated source: [String]) -> Int? {
        source.indices.first { start in
            frames.enumerated().allSatisfy { $0.element == source[(start + $0.offset) % source.count] }
        }
    }
}
