import Foundation
import IoTCore
import RecordingStore

/// Recordings as an HTTP Live Streaming playlist (RFC 8216) of fragmented MP4.
package struct HLSPlaylist: Sendable {
    package static let contentType = "application/vnd.apple.mpegurl"
    package let text: String

    /// - Parameters:
    ///   - start: where the player is to begin, µs since 1970.
    ///   - isOpen: whether parts that are recorded later belong to it.
    ///   - query: what each address ends with, for example a media key; empty for nothing.
    init(_ stream: RecordedStream, start: Int64, isOpen: Bool, query: String) {
        let parts = stream.parts
        let mayGrow = isOpen && stream.isGrowing
        let longest = parts.map(\.duration).max() ?? 1_000_000
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:\((longest + 500_000) / 1_000_000)",
            "#EXT-X-PLAYLIST-TYPE:\(mayGrow ? "EVENT" : "VOD")",
        ]
        // Without it, players of an EVENT playlist begin at its end.
        let offset = parts.first.map { max(0, start - $0.start) } ?? 0
        lines.append("#EXT-X-START:TIME-OFFSET=\(Self.seconds(offset)),PRECISE=YES")
        if parts.allSatisfy(\.startsWithKeyFrame) { lines.append("#EXT-X-INDEPENDENT-SEGMENTS") }
        for (number, stretch) in stream.stretches.enumerated() {
            if number > 0 { lines.append("#EXT-X-DISCONTINUITY") }
            lines.append("#EXT-X-MAP:URI=\"\(stretch.header.number)/init.mp4\(query.isEmpty ? "" : "?" + query)\"")
            var segment: SegmentID?
            for part in stretch.parts {
                // The clocks may differ, so each recording says its time.
                if part.segment != segment { lines.append("#EXT-X-PROGRAM-DATE-TIME:\(Self.date(part.start))") }
                segment = part.segment
                lines.append("#EXTINF:\(Self.seconds(part.duration)),")
                let address = "\(part.segment.number)/media.m4s?first=\(part.first)&count=\(part.count)"
                lines.append(query.isEmpty ? address : address + "&" + query)
            }
        }
        if !mayGrow { lines.append("#EXT-X-ENDLIST") }
        text = lines.joined(separator: "\n") + "\n"
    }

    private static func seconds(_ microseconds: Int64) -> String {
        let (whole, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        let digits = String(rest)
        return "\(whole)." + String(repeating: "0", count: 6 - digits.utf8.count) + digits
    }

    private static func date(_ microseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(microseconds / 1_000) / 1_000)
            .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
