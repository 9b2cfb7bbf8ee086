import Foundation
import Testing

/// A snapshot is one of the camera's pictures, and its summary contains that picture's pts.
@Suite(.serialized, .timeLimit(.minutes(3))) struct SnapshotTests {
    /// The number of raw video frames during which the snapshot is taken.
    private static let count = 30

    @Test("A snapshot is the frame with the pts in its summary", arguments: MonitorSample.all, ["png", "jpg"])
    func snapshot(sample: MonitorSample, format: String) async throws {
        let daemon = try await RunningDaemon(cameras: ["front": sample.path])
        let folder = try TemporaryFolder()
        let video = folder.path("v.y4m")
        let picture = folder.path("s.\(format)")
        let source = try await FrameDigests.of(sample.path)
        // At the clip's loop the pts jumps: then the test tries again.
        for _ in 0..<5 {
            let outcome = try await daemon.iotctl(
                "monitor", "front", "--frames", "\(Self.count)", "--raw-video", video, "--snapshot", picture, "--json")
            try #require(outcome.status == 0, "\(outcome.errors)")
            let raw = try await FrameDigests.of(video)
            let start = try #require(FrameDigests.position(of: raw, inRepeated: source))
            guard start + Self.count <= sample.frames else { continue }
            let index = try Self.index(of: outcome.output, sample)
            try await Self.compare(picture, format, with: video, at: index)
            await daemon.stop()
            return
        }
        Issue.record("every run crossed the loop")
    }

    /// The index of the raw video frame that has the snapshot's pts.
    private static func index(of summary: Data, _ sample: MonitorSample) throws -> Int {
        let summary = try JSONSerialization.jsonObject(with: summary) as? [String: Any]
        let files = try #require(summary?["files"] as? [[String: Any]])
        let pts = try #require(files.first { $0["kind"] as? String == "snapshot" }?["pts"] as? Int)
        let channel = summary?["channel"] as? [String: Any]
        let first = try #require((channel?["statistics"] as? [String: Any])?["firstPicturePts"] as? Int)
        let index = Double(pts - first) / (sample.pictureTime * 1_000_000)
        #expect(abs(index - index.rounded()) < 0.01, "\(index)")
        try #require((0..<count).contains(Int(index.rounded())), "the snapshot is outside the raw video")
        return Int(index.rounded())
    }

    private static func compare(_ picture: String, _ format: String, with video: String, at index: Int) async throws {
        let head = try Data(contentsOf: URL(fileURLWithPath: picture)).prefix(3)
        #expect(head.elementsEqual(format == "png" ? [0x89, 0x50, 0x4E] : [0xFF, 0xD8, 0xFF]))
        let likeness = try await Likeness.of(picture, toFramesOf: video)
        let best = try #require(likeness.indices.max { likeness[$0] < likeness[$1] })
        #expect(best == index, "\(likeness)")
        // PNG is lossless; 60 dB allow for rounding in the colour conversion.
        #expect(likeness[index] > (format == "png" ? 60 : 40), "\(likeness[index]) dB")
    }
}
