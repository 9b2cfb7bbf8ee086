import Foundation
import Testing

/// One track of a file as ffprobe sees it.
struct RecordedTrack {
    struct Packet {
        /// s
        let pts: Double
        let duration: Double
        /// The digest of the coded bytes.
        let digest: String
    }

    let codec: String
    /// 0 for pictures.
    let channels: Int
    let packets: [Packet]

    /// - Parameter stream: In ffprobe's syntax, for example `v:0`.
    init(_ file: String, _ stream: String) async throws {
        let outcome = try await Program.named(
            "ffprobe",
            [
                "-v", "error", "-select_streams", stream, "-show_data_hash", "md5", "-show_entries",
                "stream=codec_name,channels:packet=pts_time,duration_time,data_hash", "-of", "json", file,
            ]
        ).run()
        try #require(outcome.status == 0, "\(outcome.errors)")
        let answer = try #require(try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
        let description = try #require((answer["streams"] as? [[String: Any]])?.first, "\(file) has no \(stream)")
        codec = description["codec_name"] as? String ?? ""
        channels = description["channels"] as? Int ?? 0
        packets = try (answer["packets"] as? [[String: Any]] ?? []).map { packet in
            func number(_ key: String) -> Double? { (packet[key] as? String).flatMap(Double.init) }
            // ffprobe does not always return the first packet's duration, although the file contains it.
            return Packet(
                pts: try #require(number("pts_time"), "\(file) \(stream): \(packet)"),
                duration: number("duration_time") ?? 0, digest: try #require(packet["data_hash"] as? String))
        }
        try #require(!packets.isEmpty, "\(file): nothing in \(stream)")
    }

    var start: Double { packets.map(\.pts).min() ?? 0 }
    var end: Double { packets.map { $0.pts + $0.duration }.max() ?? 0 }
    var length: Double { end - start }
}
