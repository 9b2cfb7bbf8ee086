import Foundation
import IoTCore
import MediaCodec
import NIOCore
import Testing

@Suite("Sound")
struct AudioDecoderTests {
    // The clip's AAC LC told as HE-AAC: the decoder finds no band replication data and only doubles the rate, which is
    // what tells an HE-AAC track apart for everything behind it. 5 (SBR), 16 kHz, mono, 32 kHz, then 2.
    private let highEfficiency = AudioParameters(
        codec: .aac, sampleRate: 32000, channels: 1, audioSpecificConfig: [0x2C, 0x0A, 0x88, 0])

    @Test("HE-AAC comes out at its doubled rate, 2048 samples a frame")
    func highEfficiencyDecoding() throws {
        let frames = try Pipeline.frames(Clips.h264).filter { $0.kind == .audio }
        let decoder = try AudioDecoder(highEfficiency)
        let buffers = try frames.flatMap { try decoder.decode($0) }
        #expect(buffers.count == frames.count)
        #expect(buffers.allSatisfy { $0.sampleRate == 32000 && $0.frameCount == 2048 })
        #expect(buffers.map(\.pts) == frames.map(\.pts))
    }

    @Test("HE-AAC is recorded with the source's times")
    func highEfficiencyRecording() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("a.mp4")
        let frames = try Pipeline.frames(Clips.h264).filter { $0.kind == .audio }
        let muxer = try FragmentedMP4Muxer(video: nil, audio: highEfficiency)
        var data = Data()
        for frame in frames {
            if let bytes = try muxer.write(frame) { data.append(contentsOf: bytes.readableBytesView) }
        }
        data.append(contentsOf: muxer.finish().readableBytesView)
        try data.write(to: URL(fileURLWithPath: file))
        try FFmpegTool.run(["-i", file, "-f", "null", "-"])
        let demuxer = try MediaDemuxer(url: file)
        #expect(demuxer.audio?.sampleRate == 32000)
        let recorded = try Pipeline.frames(file)
        #expect(recorded.map(\.bytes) == frames.map(\.bytes))
        #expect(zip(recorded, frames).allSatisfy { abs($0.pts - $1.pts) <= 32 })
    }

    @Test("Damaged sound is counted and left out")
    func damage() throws {
        let demuxer = try MediaDemuxer(url: Clips.surround)
        let decoder = try AudioDecoder(try #require(demuxer.audio))
        let garbage = ByteBuffer(repeating: 0xFF, count: 50)
        let buffers = try decoder.decode(
            MediaFrame(kind: .audio, isKeyFrame: true, pts: 0, dts: 0, bytes: garbage))
        #expect(buffers.isEmpty)
        #expect(decoder.errorCount == 1)
    }

    @Test("What cannot be decoded is refused with the reason")
    func refused() throws {
        for parameters in [
            AudioParameters(codec: .opus, sampleRate: 48000, channels: 2),
            AudioParameters(codec: .aac, sampleRate: 48000, channels: 2),
            AudioParameters(codec: .pcma, sampleRate: 0, channels: 1),
        ] {
            let error = try #require(throws: IoTError.self) { _ = try AudioDecoder(parameters) }
            #expect(error.code == .codecUnsupported)
        }
    }
}
