import Foundation
import IoTCore
import MediaCodec
import NIOCore
import Testing

@Suite("Audio")
struct AudioDecoderTests {
    // Clips with real spectral band replication and parametric stereo.
    private static let highEfficiency = [Clips.highEfficiency, Clips.highEfficiencyStereo]

    @Test("HE-AAC is decoded like by ffmpeg, at twice the core rate, 2048 samples per frame", arguments: highEfficiency)
    func highEfficiencyDecoding(clip: String) throws {
        let demuxer = try MediaDemuxer(url: clip)
        let parameters = try #require(demuxer.audio)
        #expect(parameters.sampleRate == 48_000)
        let frames = try Pipeline.frames(clip)
        let decoder = try AudioDecoder(parameters)
        let buffers = try frames.flatMap { try decoder.decode($0) }
        #expect(buffers.count == frames.count && decoder.errorCount == 0)
        #expect(buffers.allSatisfy { $0.sampleRate == 48_000 && $0.channels == 2 && $0.frameCount == 2048 })
        #expect(buffers.map(\.pts) == frames.map(\.pts))
        let decoded = buffers.reduce(into: Data()) { $0.append(contentsOf: $1.samples.readableBytesView) }
        // Ignore the edit list, which ffmpeg uses to remove the encoder's priming.
        let reference = try FFmpegTool.rawAudio(clip, input: ["-ignore_editlist", "1", "-flags2", "+skip_manual"])
        // Compared outside the macro, which would take minutes to describe the difference.
        let isReference = decoded == reference
        #expect(isReference)
        #expect(try level(of: decoded, above: 14_000) > 50, "the replicated band is missing")
    }

    /// The root mean square of the audio above a frequency. The core at half the sample rate has none above 12 kHz.
    private func level(of samples: Data, above frequency: Int) throws -> Double {
        let folder = try TemporaryFolder()
        try samples.write(to: URL(fileURLWithPath: folder.file("in.s16")))
        let highPass = Array(repeating: "highpass=f=\(frequency)", count: 6).joined(separator: ",")
        let filtered = try FFmpegTool.run([
            "-f", "s16le", "-ar", "48000", "-ac", "2", "-i", folder.file("in.s16"), "-af", highPass, "-f", "s16le", "-",
        ])
        let values = filtered.withUnsafeBytes { $0.bindMemory(to: Int16.self).map { Double($0) } }
        return (values.reduce(0) { $0 + $1 * $1 } / Double(values.count)).squareRoot()
    }

    @Test("HE-AAC is recorded with unchanged bytes and times", arguments: highEfficiency)
    func highEfficiencyRecording(clip: String) throws {
        let folder = try TemporaryFolder()
        let file = folder.file("a.mp4")
        let frames = try Pipeline.frames(clip)
        let muxer = try MP4Stream(video: nil, audio: MediaDemuxer(url: clip).audio)
        var data = Data()
        for frame in frames {
            if let bytes = try muxer.write(frame) { data.append(contentsOf: bytes.readableBytesView) }
        }
        data.append(contentsOf: muxer.finish().readableBytesView)
        try data.write(to: URL(fileURLWithPath: file))
        try FFmpegTool.run(["-i", file, "-f", "null", "-"])
        let recorded = try MediaDemuxer(url: file)
        #expect(recorded.audio?.sampleRate == 48_000)
        #expect(try FFmpegTool.probe(file, ["-show_entries", "stream=profile"]).hasPrefix("HE-AAC"))
        let again = try Pipeline.frames(file)
        #expect(again.map(\.bytes) == frames.map(\.bytes))
        let start = try #require(frames.first).pts
        #expect(zip(again, frames).allSatisfy { abs($0.pts - ($1.pts - start)) <= 32 })
    }

    @Test("A second frame in one access unit, for which libav sets no time, follows the first")
    func twoFrames() throws {
        let parameters = try #require(MediaDemuxer(url: Clips.h264).audio)
        let frames = try Pipeline.frames(Clips.h264).filter { $0.kind == .audio }
        var double = frames[10]
        double.bytes.writeImmutableBuffer(frames[11].bytes)
        let decoder = try AudioDecoder(parameters)
        let buffers = try decoder.decode(double)
        let first = try #require(buffers.first)
        #expect(buffers.map(\.pts) == [double.pts, double.pts + first.duration] && first.duration > 20_000)
        var timeless = frames[12]
        timeless.pts = .min
        #expect(try decoder.decode(timeless).map(\.pts) == [double.pts + 2 * first.duration])
        decoder.reset()
        #expect(try decoder.decode(timeless).isEmpty, "no frame precedes it")
    }

    @Test("A picture without a time follows the previous one, and is dropped if it is the first")
    func pictureWithoutTime() throws {
        let demuxer = try MediaDemuxer(url: Clips.h264)
        let decoder = try VideoDecoder(try #require(demuxer.video))
        let frames = try Pipeline.frames(Clips.h264).filter { $0.kind == .video }
        var times: [Int64] = []
        for (index, var frame) in frames.prefix(5).enumerated() {
            frame.pts = index == 2 ? 1_000_000 : .min
            times += try decoder.decode(frame).map(\.pts)
        }
        times += decoder.flush().map(\.pts)
        #expect(times.count == 3 && times.first == 1_000_000)
        #expect(zip(times, times.dropFirst()).allSatisfy { (20_000...200_000).contains($1 - $0) }, "\(times)")
    }

    @Test("The converter's times do not overflow", arguments: [.min, .max] as [Int64])
    func extremes(pts: Int64) throws {
        let converter = try AudioConverter(sampleRate: 48_000, channels: 2)
        for _ in 0..<3 {
            let buffer = AudioBuffer(
                pts: pts, sampleRate: 8_000, channels: 1, samples: ByteBuffer(repeating: 0, count: 320))
            _ = try converter.convert(buffer)
        }
        _ = try converter.flush()
    }

    @Test("Damaged audio is counted and left out")
    func damage() throws {
        let demuxer = try MediaDemuxer(url: Clips.surround)
        let decoder = try AudioDecoder(try #require(demuxer.audio))
        let garbage = ByteBuffer(repeating: 0xFF, count: 50)
        let buffers = try decoder.decode(
            MediaFrame(kind: .audio, isKeyFrame: true, pts: 0, dts: 0, bytes: garbage))
        #expect(buffers.isEmpty)
        #expect(decoder.errorCount == 1)
    }

    @Test("Audio that cannot be decoded is rejected with the reason")
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
