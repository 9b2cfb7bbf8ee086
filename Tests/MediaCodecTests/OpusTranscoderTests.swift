import IoTCore
import NIOCore
import TestSupport
import Testing

@testable import MediaCodec

@Suite struct OpusTranscoderTests {
    /// The clip's sound, frame by frame.
    private func sound(_ clip: String) throws -> (AudioParameters, [MediaFrame]) {
        let demuxer = try MediaDemuxer(url: Clips.sample(clip))
        var frames: [MediaFrame] = []
        while let frame = try demuxer.readFrame() {
            if frame.kind == .audio { frames.append(frame) }
        }
        return (try #require(demuxer.audio), frames)
    }

    @Test(
        "AAC of 16 kHz, AAC 5.1 and PCMA become Opus packets of 20 ms without a gap, as long as the clip",
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
            // RFC 6716 §3.1: one frame of 20 ms, by the TOC's configuration and code.
            let toc = try #require(packet.bytes.getInteger(at: packet.bytes.readerIndex, as: UInt8.self))
            let configuration = toc >> 3
            #expect(configuration < 12 ? configuration % 4 == 1 : configuration % (configuration < 16 ? 2 : 4) != 0)
            #expect(toc & 3 == 0 && packet.bytes.readableBytes < 1000)
        }
        // Something is in it: silence takes some bytes a packet.
        #expect(packets.reduce(0) { $0 + $1.bytes.readableBytes } > packets.count * 40)
    }

    @Test("A gap in the sound is a gap in the packets, and a jump of the clock starts them anew")
    func gaps() throws {
        let (parameters, frames) = try sound("street-h264-aac.mp4")
        let transcoder = try OpusTranscoder(parameters)
        var packets = try frames[..<50].flatMap { try transcoder.transcode($0) }
        let before = try #require(packets.last)
        // Half a second is missing.
        packets = try frames[58..<70].flatMap { try transcoder.transcode($0) }
        let behind = try #require(packets.first { $0.isDiscontinuity })
        #expect(abs(behind.pts - frames[58].pts) < 40_000)
        #expect(behind.pts - before.pts > 300_000)
        var again = frames[0]
        again.pts = frames[70].pts + 5_000_000
        again.isDiscontinuity = true
        packets = try transcoder.transcode(again)
        #expect(abs(try #require(packets.first { $0.isDiscontinuity }).pts - again.pts) < 40_000)
    }

    @Test("Damaged sound leaves a gap and nothing worse")
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

    @Test("What cannot be decoded is refused at once")
    func refused() {
        #expect(throws: IoTError.self) {
            try OpusTranscoder(AudioParameters(codec: .opus, sampleRate: 48_000, channels: 2))
        }
        #expect(throws: IoTError.self) {
            try OpusTranscoder(AudioParameters(codec: .aac, sampleRate: 48_000, channels: 2))
        }
    }
}
