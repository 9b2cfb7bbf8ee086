import IoTCore
import MediaCodec
import MediaTestSupport
import NIOCore
import Testing

@testable import MediaPlayer

/// Tests recordings of a source with longer groups of pictures than may wait for a reader. Five pictures per second.
@Suite(.timeLimit(.minutes(1))) struct LongGroupTests {
    /// Decodes no picture.
    private final class Blind: PictureDecoder {
        func decode(_ frame: MediaFrame, isShown: Bool) throws(IoTError) -> [VideoPicture] { [] }
        func flush() -> [VideoPicture] { [] }
        func reset() {}
    }

    private func play(keyFrames: Int) throws -> (ClipSource, VirtualPlayer) {
        let clip = try SampleClip("street-h264-bframes-pcma.mkv", rounds: 16)
        let source = ClipSource(SampleClip(picturesOf: clip, stretch: 2, keyFrames: keyFrames))
        var parts = PlayerParts()
        parts.pictureDecoder = { _ in Blind() }
        let player = VirtualPlayer(source, PlayerCapabilities(of: .playback), parts: parts)
        try player.play()
        return (source, player)
    }

    @Test("A recording that joins late in a long group gets all of it before it is read")
    func joining() async throws {
        let (_, player) = try play(keyFrames: 1)
        try player.run(for: .seconds(90))
        let sink = try player.core.addRecording(frames: nil, at: player.now)
        #expect(sink.chunks.room.counts.frames > 400 && sink.framesDropped == 0)
        try player.run(for: .seconds(50))
        #expect(sink.framesDropped == 0, "frames of one minute may wait from then on")
        try player.run(for: .seconds(20))
        #expect(sink.framesDropped > 0)
    }

    @Test(
        "A recording that lost frames asks for a key frame when it has room, and ends if none comes within a minute")
    func withoutKeyFrame() async throws {
        let (source, player) = try play(keyFrames: 1)
        let sink = try player.core.addRecording(frames: nil, at: player.now)
        try player.run(for: .seconds(70))
        #expect(sink.framesDropped > 0 && source.keyFrameRequests.isEmpty, "a key frame would be lost as well")
        let reader = sink.chunks.makeAsyncIterator()
        while sink.chunks.chunkCount > 0 { _ = try await reader.next() }
        try player.run(for: .seconds(50))
        #expect((10...11).contains(source.keyFrameRequests.count) && !sink.chunks.isClosed)
        try player.run(for: .seconds(11))
        #expect(sink.chunks.isClosed)
        let error = await #expect(throws: IoTError.self) { while try await reader.next() != nil {} }
        #expect(error?.code == .slowReader)
    }
}
