import IoTCore
import MediaCodec
import MediaTestSupport
import NIOCore
import Testing

@testable import MediaPlayer

/// Tests raw sound with a reader that pauses for a while. A frame is 20 ms of 8 kHz mono, 320 bytes.
@Suite(.timeLimit(.minutes(1))) struct RawAudioSinkTests {
    private static let frame = 320

    private func sound(_ number: Int) -> AudioBuffer {
        AudioBuffer(
            pts: Int64(number) * 20_000, sampleRate: 8_000, channels: 1,
            samples: ByteBuffer(repeating: 1, count: Self.frame))
    }

    /// The output for a reader that takes nothing from the first frame until `dropped` frames were dropped.
    private func body(dropped: Int) async throws -> [UInt8] {
        var parts = PlayerParts()
        parts.jobQueue = { _, _ in InlineQueue() }
        let stream = ChunkStream(SinkLimits(duration: 1_000_000, bytes: 1 << 20))
        let queue = SinkQueue(
            name: "test", .stream(stream), parts: parts, onLoss: {},
            sounds: {
                RawAudioSink(frames: nil, frameRate: 0, stream: stream)
            })
        func give(_ number: Int) {
            let sound = sound(number)
            #expect(
                queue.give(.sound(sound, presentAt: .now()), at: sound.pts, bytes: sound.samples.readableBytes))
        }
        var number = 0
        while stream.room.counts.framesDropped < dropped {
            give(number)
            number += 1
        }
        var bytes: [UInt8] = []
        let reader = stream.makeAsyncIterator()
        while stream.chunkCount > 0, let chunk = try await reader.next() { bytes += chunk.readableBytesView }
        for _ in 0..<10 {
            give(number)
            number += 1
        }
        queue.end(nil)
        while let chunk = try await reader.next() { bytes += chunk.readableBytesView }
        #expect(stream.room.counts.framesDropped == dropped)
        return Array(bytes.dropFirst(44))
    }

    @Test("Lost sound is replaced by silence of the same duration, at most one second", arguments: [1, 5, 50, 51, 500])
    func silence(dropped: Int) async throws {
        let admitted = 51
        let silence = min(dropped, 50)
        let expected =
            Array(repeating: UInt8(1), count: admitted * Self.frame)
            + Array(repeating: UInt8(0), count: silence * Self.frame)
            + Array(repeating: UInt8(1), count: 10 * Self.frame)
        #expect(try await body(dropped: dropped) == expected)
    }
}
