import Foundation
import Testing

/// The similarity of a picture to each frame of a video: the peak signal-to-noise ratio in RGB, dB, by ffmpeg.
enum Likeness {
    static func of(_ picture: String, toFramesOf video: String) async throws -> [Double] {
        let outcome = try await Program.named(
            "ffmpeg",
            [
                "-v", "error", "-i", video, "-i", picture, "-filter_complex",
                // ffmpeg repeats the picture for all frames.
                "[0:v]format=gbrp,setpts=N/TB[a];[1:v]format=gbrp,setpts=N/TB[b];"
                    + "[a][b]psnr=stats_file=-:eof_action=repeat",
                "-f", "null", "-",
            ]
        ).run()
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try outcome.text.split(separator: "\n").map { line in
            let value = try #require(line.firstMatch(of: #/psnr_avg:(\S+)/#)?.1, "\(line)")
            return value == "inf" ? .infinity : try #require(Double(value))
        }
    }
}
