import Foundation
import IoTCore
import MediaCodec
import MediaTestSupport
import NIOCore
import Testing

@testable import MediaPlayer

@Suite(.timeLimit(.minutes(1))) struct RecordingSinkTests {
    @Test(
        "A recording that is to have so many pictures ends after them, complete and with their sound",
        arguments: [1, 10, nil])
    func frames(limit: Int?) async throws {
        let clip = try SampleClip("bunny-h264-aac51.mp4", rounds: 1)
        let frames = try await record(clip.frames, clip.video, clip.audio, limit)
        let pictures = frames.filter { $0.kind == .video }
        #expect(pictures.count == limit ?? clip.pictures)
        #expect(pictures.map(\.bytes) == clip.frames.filter { $0.kind == .video }.prefix(pictures.count).map(\.bytes))
        let end = (pictures.map(\.pts).max() ?? 0) + 40_000
        let sounds = frames.filter { $0.kind == .audio }.map(\.pts)
        #expect(abs((sounds.max() ?? 0) - end) < 60_000, "sound ends at \(sounds.max() ?? 0), pictures at \(end) µs")
    }

    @Test("With B-frames it ends after a whole group: no picture is missing before the last", arguments: 1...12)
    func groups(limit: Int) async throws {
        let clip = try SampleClip("street-h264-bframes-pcma.mkv", rounds: 1)
        let times = try await record(clip.frames, clip.video, clip.audio, limit)
            .filter { $0.kind == .video }.map(\.pts).sorted()
        #expect((limit...limit + 3).contains(times.count))
        #expect(zip(times, times.dropFirst()).allSatisfy { abs($1 - $0 - 100_000) < 2_000 }, "\(times)")
    }

    @Test("A recording to which no picture came fails: an empty file is not a success")
    func empty() async throws {
        let clip = try SampleClip("bunny-h264-aac51.mp4", rounds: 1)
        let sink = RecordingSink(video: clip.video, audio: clip.audio)
        sink.end(nil)
        await #expect(throws: IoTError.self) { for try await _ in sink.stream {} }
    }

    private func record(
        _ frames: [MediaFrame], _ video: VideoParameters?, _ audio: AudioParameters?, _ limit: Int?
    ) async throws -> [MediaFrame] {
        let sink = RecordingSink(video: video, audio: audio, frames: limit)
        for frame in frames {
            sink.take(frame, senderTime: frame.pts, presentAt: .uptimeNanoseconds(UInt64(max(0, frame.pts)) * 1_000))
        }
        sink.end(nil)
        var bytes = Data()
        for try await chunk in sink.stream { bytes.append(contentsOf: chunk.readableBytesView) }

        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).mp4")
        try bytes.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let demuxer = try MediaDemuxer(
            url: file.path, options: DemuxerOptions(), cancellation: DemuxerCancellation())
        var recorded: [MediaFrame] = []
        while let frame = try demuxer.readFrame() { recorded.append(frame) }
        return recorded
    }
}
