import IoTCore
import MediaCodec
import NIOCore
import TestSupport
import Testing

@testable import MediaPlayer

@Suite struct SpeechTrackDecoderTests {
    private let start: Int64 = 7_000_000

    /// Two seconds of speech as packets, one each 20 ms.
    private func frames() throws -> [MediaFrame] {
        let encoder = try SpeechEncoder(usesDTX: false)
        let sound = SyntheticVoice.samples(seconds: 2)
        return try (0..<100).map { index in
            let samples = sound[index * 960..<(index + 1) * 960]
            let packet = try #require(try samples.withUnsafeBufferPointer { try encoder.encode($0) })
            let pts = start + Int64(index) * 20_000
            return MediaFrame(kind: .audio, isKeyFrame: true, pts: pts, dts: pts, bytes: ByteBuffer(bytes: packet))
        }
    }

    private func loudness(_ buffer: AudioBuffer) -> Double {
        var bytes = buffer.samples
        var sum = 0.0
        while let sample = bytes.readInteger(endianness: .little, as: Int16.self) {
            sum += Double(sample) * Double(sample)
        }
        return (sum / Double(max(1, buffer.frameCount))).squareRoot()
    }

    @Test("Lost and damaged packets leave no gap in time or loudness; the tracks' times stay")
    func gaps() throws {
        let decoder = try SpeechTrackDecoder()
        var buffers: [AudioBuffer] = []
        for (index, frame) in try frames().enumerated() where index % 10 != 5 && index % 25 != 24 {
            var frame = frame
            // A packet of code 3 without its frame count (RFC 6716 §3.2.5).
            if index % 10 == 8 { frame.bytes = ByteBuffer(bytes: [0xFF]) }
            buffers += decoder.decode(frame)
        }
        #expect(buffers.allSatisfy { $0.channels == 1 && $0.sampleRate == 48_000 })
        for (buffer, next) in zip(buffers, buffers.dropFirst()) {
            #expect(abs(buffer.pts + buffer.duration - next.pts) <= 1, "\(buffer.pts)")
        }
        #expect(buffers.first?.pts == start)
        // The undisturbed sound is the measure.
        let whole = try SpeechTrackDecoder()
        let expected = try frames().flatMap { whole.decode($0) }
        #expect(buffers.count <= expected.count)
        for buffer in buffers where buffer.frameCount == 960 {
            let index = Int((buffer.pts - start + 10) / 20_000)
            let (heard, wanted) = (loudness(buffer), loudness(expected[index]))
            #expect(heard > wanted / 3 - 200 && heard < wanted * 3 + 500, "\(index): \(heard), \(wanted)")
        }
    }

    @Test("Sound starts anew after a discontinuity, a longer gap, and a step back")
    func restarts() throws {
        let frames = try frames()
        for jump: Int64 in [0, 1_500_000, -500_000, .max - 8_000_000] {
            let decoder = try SpeechTrackDecoder()
            for frame in frames[..<20] { #expect(decoder.decode(frame).count == 1) }
            var next = frames[30]
            next.pts += jump
            next.isDiscontinuity = jump == 0
            let buffers = decoder.decode(next)
            #expect(buffers.map(\.pts) == [next.pts], "\(jump)")
        }
    }

    @Test("A player decodes Opus by itself, and gives replaced sound the time at which it should have come")
    func stage() throws {
        let now = NIODeadline.uptimeNanoseconds(5_000_000_000)
        let queue = WaitingQueue()
        let events = DecodeEvents()
        var parts = PlayerParts()
        parts.clock = { now }
        parts.jobQueue = { _, _ in queue }
        let stage = DecodeStage(
            video: nil, audio: AudioParameters(codec: .opus, sampleRate: 48_000, channels: 2), parts: parts,
            events: events
        ) {}
        for (index, frame) in try frames().prefix(6).enumerated() where index != 3 && index != 4 {
            _ = stage.decode(frame, presentAt: now + .microseconds(frame.pts - start), isLate: false)
        }
        queue.run()
        let sounds = events.take(at: now).compactMap { event -> (pts: Int64, at: NIODeadline)? in
            if case .sound(let pts, let presentAt, _, _, _) = event { (pts, presentAt) } else { nil }
        }
        #expect(sounds.map { $0.pts - start } == [0, 20_000, 40_000, 60_000, 100_000])
        for sound in sounds { #expect(sound.at == now + .microseconds(sound.pts - start)) }
    }
}
