import Foundation
import IoTCore
import MediaCodec
import NIOCore
import Testing

@Suite("MP4 stream")
struct MP4StreamTests {
    @Test("A recording plays without ffmpeg messages and contains exactly the source's pictures", arguments: Clips.all)
    func roundTrip(_ clip: String) throws {
        let folder = try TemporaryFolder()
        let file = folder.file("recording.mp4")
        try Pipeline.record(clip).write(to: URL(fileURLWithPath: file))
        try FFmpegTool.run(["-i", file, "-f", "null", "-"])
        #expect(try FFmpegTool.rawVideo(file) == FFmpegTool.rawVideo(clip))
        let videoStart = try FFmpegTool.probe(file, ["-select_streams", "v", "-show_entries", "stream=start_time"])
        #expect(Double(videoStart) == 0)
        let tag = try FFmpegTool.probe(file, ["-select_streams", "v", "-show_entries", "stream=codec_tag_string"])
        #expect(tag == (clip == Clips.h265 ? "hvc1" : "avc1"))
    }

    @Test("Each picture keeps its time, including B-frames", arguments: Clips.all)
    func times(_ clip: String) throws {
        let folder = try TemporaryFolder()
        let file = folder.file("recording.mp4")
        try Pipeline.record(clip).write(to: URL(fileURLWithPath: file))
        func times(_ url: String) throws -> [Int64] {
            let all = try Pipeline.frames(url).filter { $0.kind == .video }.map(\.pts)
            return all.map { $0 - (all.min() ?? 0) }
        }
        let recorded = try times(file)
        let source = try times(clip)
        #expect(recorded.count == source.count)
        #expect(zip(recorded, source).allSatisfy { abs($0 - $1) <= 12 })
    }

    @Test("The audio has the source's length and level", arguments: Clips.all)
    func sound(_ clip: String) throws {
        let folder = try TemporaryFolder()
        let file = folder.file("recording.mp4")
        try Pipeline.record(clip).write(to: URL(fileURLWithPath: file))
        let source = try Pipeline.decodeAudio(clip)
        let recorded = try Pipeline.decodeAudio(file)
        #expect(recorded.first?.channels == source.first?.channels)
        #expect(recorded.first?.sampleRate == source.first?.sampleRate)
        func length(_ buffers: [AudioBuffer]) -> Int64 { buffers.reduce(0) { $0 + $1.duration } }
        #expect(abs(length(source) - length(recorded)) < 300_000)
        #expect(abs(level(source) - level(recorded)) < 1)
        // Audio and video stay in sync: the first audio keeps its position.
        let firstPicture = try Pipeline.frames(clip).filter { $0.kind == .video }.map(\.pts).min() ?? 0
        let offset = (source.first?.pts ?? 0) - firstPicture
        #expect(abs((recorded.first?.pts ?? 0) - offset) < 130_000)
    }

    @Test("Opus is recorded as it is, at its times, also after silence that was not sent")
    func opus() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("opus.mp4")
        let encoder = try SpeechEncoder()
        let muxer = try MP4Stream(
            video: nil, audio: AudioParameters(codec: .opus, sampleRate: 48_000, channels: 1))
        var (bytes, coded) = (ByteBuffer(), 0)
        for index in 0..<100 where !(40..<60).contains(index) {
            let samples = (0..<960).map { Int16(8_000 * sin(Double(index * 960 + $0) * 0.05)) }
            let packet = try #require(try samples.withUnsafeBufferPointer { try encoder.encode($0) })
            coded += packet.count
            // RTP times are whole ticks, those of a source µs.
            let pts = Int64(index) * 20_000 + Int64(index % 3)
            if var chunk = try muxer.write(
                MediaFrame(kind: .audio, isKeyFrame: true, pts: pts, dts: pts, bytes: ByteBuffer(bytes: packet)))
            {
                bytes.writeBuffer(&chunk)
            }
        }
        bytes.writeImmutableBuffer(muxer.finish())
        try Data(bytes.readableBytesView).write(to: URL(fileURLWithPath: file))
        try FFmpegTool.run(["-i", file, "-f", "null", "-"])
        let stream = try FFmpegTool.probe(file, ["-show_entries", "stream=codec_name,channels,sample_rate"])
        #expect(stream.contains("opus") && stream.contains("48000"))
        func column(_ name: String) throws -> [Int] {
            try FFmpegTool.probe(file, ["-show_entries", "packet=\(name)"]).split { ",\n".contains($0) }
                .compactMap { Int($0) }
        }
        #expect(try column("pts") == (0..<100).filter { !(40..<60).contains($0) }.map { $0 * 960 })
        #expect(try column("size").reduce(0, +) == coded)
    }

    @Test("A growing recording can be played")
    func growing() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("growing.mp4")
        let demuxer = try MediaDemuxer(url: Clips.h264)
        let muxer = try MP4Stream(video: demuxer.video, audio: demuxer.audio)
        var data = Data()
        var chunks = 0
        while let frame = try demuxer.readFrame(), frame.pts < 5_500_000 {
            if let bytes = try muxer.write(frame) {
                chunks += 1
                data.append(contentsOf: bytes.readableBytesView)
            }
        }
        try data.write(to: URL(fileURLWithPath: file))
        #expect(chunks >= 5)
        try FFmpegTool.run(["-i", file, "-f", "null", "-"])
        let frames = try FFmpegTool.probe(
            file, ["-count_frames", "-select_streams", "v", "-show_entries", "stream=nb_read_frames"])
        #expect(try #require(Int(frames)) >= 45)
    }

    @Test("A changed picture size ends a recording with 21035")
    func sizeChange() throws {
        let error = try #require(throws: IoTError.self) { _ = try Pipeline.record(Clips.sizeChange) }
        #expect(error.code == .videoSizeChanged)
    }

    @Test("A recording that does not start with a key frame is rejected")
    func startsWithKeyFrame() throws {
        let frames = try Pipeline.frames(Clips.h264).filter { $0.kind == .video }
        let muxer = try MP4Stream(video: VideoParameters(codec: .h264), audio: nil)
        let error = try #require(throws: IoTError.self) { _ = try muxer.write(frames[1]) }
        #expect(error.code == .mediaHeaderInvalid)
        #expect(try muxer.write(frames[0])?.readableBytes ?? 0 > 0, "the header")
        #expect(try muxer.write(frames[1]) == nil)
    }

    @Test("Audio is recorded without video too")
    func soundOnly() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("sound.mp4")
        let demuxer = try MediaDemuxer(url: Clips.bFrames)
        let muxer = try MP4Stream(video: nil, audio: demuxer.audio)
        var data = Data()
        while let frame = try demuxer.readFrame() {
            if let bytes = try muxer.write(frame) { data.append(contentsOf: bytes.readableBytesView) }
        }
        data.append(contentsOf: muxer.finish().readableBytesView)
        try data.write(to: URL(fileURLWithPath: file))
        try FFmpegTool.run(["-i", file, "-f", "null", "-"])
        #expect(try FFmpegTool.probe(file, ["-show_entries", "stream=codec_name"]) == "aac")
    }

    @Test("Audio that starts late keeps its position")
    func lateSound() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("late.mp4")
        let demuxer = try MediaDemuxer(url: Clips.h264)
        let muxer = try MP4Stream(video: demuxer.video, audio: demuxer.audio)
        var data = Data()
        while let frame = try demuxer.readFrame() {
            if frame.kind == .audio, frame.pts < 4_000_000 { continue }
            if let bytes = try muxer.write(frame) { data.append(contentsOf: bytes.readableBytesView) }
        }
        data.append(contentsOf: muxer.finish().readableBytesView)
        try data.write(to: URL(fileURLWithPath: file))
        try FFmpegTool.run(["-i", file, "-f", "null", "-"])
        let first = try #require(try Pipeline.frames(file).first { $0.kind == .audio })
        #expect(abs(first.pts - 4_032_000) < 1000)
    }

    private func level(_ buffers: [AudioBuffer]) -> Double {
        var sum = 0.0
        var count = 0
        for buffer in buffers {
            var samples = buffer.samples
            while let sample = samples.readInteger(endianness: .little, as: Int16.self) {
                sum += Double(sample) * Double(sample)
                count += 1
            }
        }
        return 10 * log10(sum / Double(max(1, count)) + 1)
    }
}
