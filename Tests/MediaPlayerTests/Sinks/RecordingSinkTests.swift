import Foundation
import IoTCore
import MediaCodec
import MediaTestSupport
import NIOCore
import Synchronization
import Testing

@testable import MediaPlayer

@Suite(.timeLimit(.minutes(1))) struct RecordingSinkTests {
    @Test(
        "A recording with a set number of pictures ends after them, complete and with their sound",
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

    @Test("With B-frames it ends after a whole group: no picture before the last one is missing", arguments: 1...12)
    func groups(limit: Int) async throws {
        let clip = try SampleClip("street-h264-bframes-pcma.mkv", rounds: 1)
        let times = try await record(clip.frames, clip.video, clip.audio, limit)
            .filter { $0.kind == .video }.map(\.pts).sorted()
        #expect((limit...limit + 3).contains(times.count))
        #expect(zip(times, times.dropFirst()).allSatisfy { abs($1 - $0 - 100_000) < 2_000 }, "\(times)")
    }

    @Test("A recording that got no picture fails, because an empty file is not a success")
    func empty() async throws {
        let clip = try SampleClip("bunny-h264-aac51.mp4", rounds: 1)
        let sink = RecordingSink(video: clip.video, audio: clip.audio)
        sink.end(nil)
        await #expect(throws: IoTError.self) { for try await _ in sink.stream {} }
    }

    @Test("A slow reader's recording continues with a key frame at its true time, and waiting frames stay limited")
    func slowReader() async throws {
        let clip = try SampleClip("street-h264-bframes-pcma.mkv", rounds: 1)
        let limits = SinkLimits(duration: 3_000_000, bytes: 16 << 20)
        var parts = PlayerParts()
        parts.jobQueue = { _, _ in InlineQueue() }
        let losses = Atomic(0)
        let sink = RecordingSink(video: clip.video, audio: clip.audio, limits: limits, parts: parts) {
            losses.add(1, ordering: .relaxed)
        }
        let start = clip.frames.map(\.pts).min() ?? 0
        var bytes = Data()
        let reader = sink.stream.makeAsyncIterator()
        for frame in clip.frames {
            // For five seconds of media nothing is read.
            while frame.pts - start >= 5_000_000, sink.stream.chunkCount > 0, let chunk = try await reader.next() {
                bytes.append(contentsOf: chunk.readableBytesView)
            }
            let presentAt = NIODeadline(playoutMicroseconds: frame.pts - start + 1_000_000)
            sink.take(frame, senderTime: frame.pts, presentAt: presentAt)
            #expect(sink.stream.room.waiting.duration <= limits.duration)
        }
        sink.end(nil)
        while let chunk = try await reader.next() { bytes.append(contentsOf: chunk.readableBytesView) }
        #expect(losses.load(ordering: .relaxed) == 1)
        let dropped = sink.stream.room.counts.framesDropped
        #expect(dropped > 0)

        let recorded = try frames(of: bytes)
        let pictures = recorded.filter { $0.kind == .video }
        let first = try #require(pictures.first?.pts)
        let times = pictures.map { $0.pts - first }
        let hole = try #require(zip(times, times.dropFirst()).first { $1 - $0 > 500_000 })
        #expect(hole.0 >= 2_500_000 && hole.0 <= 3_100_000)
        let resumed = try #require(pictures.first { $0.pts - first == hole.1 })
        #expect(resumed.isKeyFrame && abs(hole.1 - 6_000_000) < 60_000, "\(hole)")
        #expect(times.count { $0 >= hole.1 } == clip.frames.count { $0.kind == .video && $0.pts - start >= 6_000_000 })
        let decoder = try VideoDecoder(clip.video)
        let shown = try pictures.flatMap { try decoder.decode($0) } + decoder.flush()
        #expect(shown.allSatisfy { !$0.isCorrupt } && decoder.errorCount == 0)
        let last = try #require(recorded.last { $0.kind == .audio }).pts
        #expect(abs(last - (times.max() ?? 0) - first) < 300_000, "sound continues too")
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
        return try self.frames(of: bytes)
    }

    private func frames(of bytes: Data) throws -> [MediaFrame] {
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
