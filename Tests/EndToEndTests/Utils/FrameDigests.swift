import Foundation
import Testing

/// The MD5 sums of a video's decoded frames, by ffmpeg.
enum FrameDigests {
    /// - Parameter input: Standard input, if `file` is `-`.
    static func of(_ file: String, input: FileHandle? = nil) async throws -> [String] {
        var program = Program.named(
            "ffmpeg",
            ["-v", "error", "-i", file, "-map", "0:v:0", "-fps_mode", "passthrough", "-f", "framemd5", "-"])
        program.inputHandle = input
        let outcome = try await program.run()
        try #require(outcome.status == 0, "\(outcome.errors)")
        return outcome.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap {
            $0.split(separator: ",").last?.trimmingCharacters(in: .whitespaces)
        }
    }

    /// The indexes of the video's key frames.
    static func keyFrames(of file: String) async throws -> [Int] {
        let outcome = try await Program.named(
            "ffprobe",
            ["-v", "error", "-select_streams", "v:0", "-show_entries", "frame=key_frame", "-of", "csv=p=0", file]
        ).run()
        try #require(outcome.status == 0, "\(outcome.errors)")
        return outcome.text.split(separator: "\n").enumerated().filter { $0.element.hasPrefix("1") }.map(\.offset)
    }

    /// Where `frames` occur, without a gap, in the endless repetition of `source`; `nil` if they do not.
    static func position(of frames: some Collection<String>, inRepeated source: [String]) -> Int? {
        source.indices.first { start in
            frames.enumerated().allSatisfy { $0.element == source[(start + $0.offset) % source.count] }
        }
    }
}
