import Foundation
import IoTCore
import MediaCodec
import MediaTestSupport
import Testing

@testable import MediaPlayer

@Suite(.timeLimit(.minutes(1))) struct RawVideoSinkTests {
    @Test("A picture of another size ends raw video with 21035, after the waiting pictures")
    func sizeChange() async throws {
        let samples = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../Samples").standardized
        let demuxer = try MediaDemuxer(
            url: samples.appendingPathComponent("street-h264-size-change.ts").path, options: DemuxerOptions(),
            cancellation: DemuxerCancellation())
        let decoder = try VideoDecoder(try #require(demuxer.video))
        var parts = PlayerParts()
        parts.jobQueue = { _, _ in InlineQueue() }
        let stream = ChunkStream(RawVideoSink.limits)
        let queue = SinkQueue(
            name: "test", .stream(stream), parts: parts, onLoss: {},
            pictures: { RawVideoSink(frames: nil, frameRate: 10, stream: stream) })
        var given = 0
        var size: Int?
        while let frame = try demuxer.readFrame() {
            for picture in try decoder.decode(frame) {
                size = size ?? picture.packedSize
                let goesOn = queue.give(picture, at: picture.pts, bytes: picture.packedSize)
                #expect(goesOn == (picture.packedSize == size))
                if goesOn { given += 1 } else { break }
            }
            if stream.isClosed { break }
        }
        var frames = -1  // the header
        let error = await #expect(throws: IoTError.self) { for try await _ in stream { frames += 1 } }
        #expect(error?.code == .videoSizeChanged)
        #expect(frames == given && given > 10)
    }
}
