import IoTCore
import NIOCore
import TestSupport
import Testing

@testable import MediaCodec

@Suite struct OpusTranscoderTests {
    /// The clip's audio, frame by frame.
    private func sound(_ clip: String) throws -> (AudioParameters, [MediaFrame]) {
        let demuxer = try MediaDemuxer(url: Clips.sample(clip))
        var frames: [MediaFrame] = []
        while let frame = try demuxer.readFrame() {
            if frame.kind == .audio { frames.append(frame) }
        }
        return (try #require(demuxer.audio), frames)
    }

    @Test(
        "16 kHz AAC, AAC 5.1 and PCMA become contiguous Opus packets of 20 ms with the clip's length",
        arguments: ["street-h264-aac.mp4", "bunny-h264-aac51.mp4", "street-h264-bframes-pcma.mkv"])
    func clips(clip: String) throws {
        let (parameters, frames) = try sound(clip)
        let transcoder = try OpusTranscoder(parameters)
        let packets = try frames.flatMap { try transcoder.transcode($0) }
        let first = try #require(packets.first)
        let last = try #require(packets.last)
        #expect(zip(packets, packets.dropFirst()).allSatisfy { $1.pts - $0.pts == 20_000 })
        #expect(abs(first.pts - frames[0].pts) < 40_000, "\(first.pts) for \(frames[0].pts)")
        #expect(abs(last.pts - frames[frames.count - 1].pts) < 150_000)
        #expect(first.isDiscontinuity && packets.dropFirst().allSatisfy { !$0.isDiscontinuity })
        for packet in packets {
            // RFC 6716 §3.1: the TOC's configuration and code mean one frame of 20 ms.
            let toc = try #require(packet.bytes.getInteger(at: packet.bytes.readerIndex, as: UInt8.self))
            let configuration = toc >> 3
            #expect(configuration < 12 ? configuration % 4 == 1 : configuration % (configuration < 16 ? 2 : 4) != 0)
            #expect(toc & 3 == 0 && packet.bytes.readableBytes < 1000)
        }
        // The packets are not silence, which takes only a few bytes per packet.
        #expect(packets.reduce(0) { $0 + $1.bytes.readableBytes } > packets.count * 40)
    }

    @Test("A gap in the audio is a gap in the packets, and a jump of the clock restarts them")
    func gaps() throws {
        let (parameters, frames) = try sound("street-h264-aac.mp4")
        let transcoder = try OpusTranscoder(parameters)
        var packets = try frames[..<50].flatMap { try transcoder.transcode($0) }
        let before = try #require(packets.last)
        // Half a second is missing.
        packets = try frames[58..<70].flatMap { try transcoder.transcode($0) }
        let after = try #require(packets.first { $0.isDiscontinuity })
        #expect(abs(after.pts - frames[58].pts) < 40_000)
        #expect(after.pts - before.pts > 300_000)
        var again = frames[0]
        again.pts = frames[70].pts + 5_000_000
        again.isDiscontinuity = true
        packets = try transcoder.transcode(again)
        #expect(abs(try #require(packets.first { $0.isDiscontinuity }).pts - again.pts) < 40_000)
    }

    @Test("Damaged audio only leaves a gap")
    func damage() throws {
        let (parameters, frames) = try sound("street-h264-aac.mp4")
        let transcoder = try OpusTranscoder(parameters)
        var generator = SeededGenerator(seed: 7)
        var packets = 0
        for (index, frame) in frames.enumerated() {
            var frame = frame
            if index % 3 == 0 {
                for _ in 0..<8 where frame.bytes.readableBytes > 0 {
                    let at = Int.random(in: 0..<frame.bytes.readableBytes, using: &generator)
                    frame.bytes.setInteger(
                        UInt8.random(in: .min ... .max, using: &generator), at: frame.bytes.readerIndex + at)
                }
            }
            packets += try transcoder.transcode(frame).count
        }
        #expect(packets > 300)
    }

    @Test("Audio that cannot be decoded is rejected at once")
    func refused() {
        #expect(throws: IoTError.self) {
            try OpusTranscoder(AudioParameters(codec: .opus, sampleRate: 48_000, channels: 2))
        }
        #expect(throws: IoTError.self) {
            try OpusTranscoder(AudioParameters(codec: .aac, sampleRate: 48_000, channels: 2))
        }
    }
}
