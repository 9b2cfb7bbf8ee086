import Foundation
import IoTCore
import MediaCodec
import NIOCore
import Testing

@Suite("Raw streams")
struct RawWriterTests {
    @Test("ffmpeg reads exactly the same pictures from a Y4M stream", arguments: [Clips.h264, Clips.bFrames])
    func video(_ clip: String) throws {
        let folder = try TemporaryFolder()
        let file = folder.file("a.y4m")
        var writer = Y4MWriter()
        var data = Data()
        try Pipeline.decodeVideo(clip) { picture in
            if data.isEmpty {
                data.append(contentsOf: writer.header(for: picture, frameRate: (10, 1)).readableBytesView)
            }
            data.append(contentsOf: try writer.frame(picture).readableBytesView)
        }
        try data.write(to: URL(fileURLWithPath: file))
        #expect(try FFmpegTool.rawVideo(file) == FFmpegTool.rawVideo(clip))
        #expect(try FFmpegTool.probe(file, ["-show_entries", "stream=r_frame_rate"]) == "10/1")
    }

    @Test(
        "Each pixel format gets its tag, and formats that Y4M does not support are converted",
        arguments: [
            ("yuv420p", "libx264", "C420mpeg2", "yuv420p"), ("yuv422p", "libx264", "C422", "yuv422p"),
            ("yuv444p", "libx264", "C444", "yuv444p"), ("yuvj420p", "libx264", "C420mpeg2", "yuvj420p"),
            ("yuv420p10le", "libx264", "C420p10", "yuv420p10le"), ("gray", "libx265", "Cmono", "gray"),
            ("gray10le", "libx265", "C420jpeg", "yuv420p"),
        ])
    func formats(_ format: String, _ encoder: String, _ tag: String, _ result: String) throws {
        let folder = try TemporaryFolder()
        let clip = folder.file("a.mp4")
        // An odd size: chroma rows and columns are rounded up.
        try FFmpegTool.run(
            [
                "-f", "lavfi", "-i", "testsrc2=size=98x66:rate=5:duration=1", "-vf", "format=\(format)", "-c:v",
                encoder,
                clip,
            ], allowMessages: true)
        let file = folder.file("a.y4m")
        var writer = Y4MWriter()
        var data = Data()
        var header = ""
        try Pipeline.decodeVideo(clip) { picture in
            if data.isEmpty {
                let line = writer.header(for: picture, frameRate: (5, 1))
                header = String(buffer: line)
                data.append(contentsOf: line.readableBytesView)
            }
            data.append(contentsOf: try writer.frame(picture).readableBytesView)
        }
        try data.write(to: URL(fileURLWithPath: file))
        #expect(header.split(whereSeparator: \.isWhitespace).contains(Substring(tag)), "\(header)")
        let reference = try FFmpegTool.rawVideo(clip, result == format ? [] : ["-pix_fmt", result])
        let written = try FFmpegTool.rawVideo(file, input: ["-strict", "-1"])
        #expect(written.count == reference.count)
        if result == format { #expect(written == reference) }
    }

    @Test("A changed size ends a Y4M stream with 21035")
    func sizeChange() throws {
        var writer = Y4MWriter()
        var count = 0
        let error = try #require(throws: IoTError.self) {
            try Pipeline.decodeVideo(Clips.sizeChange) { picture in
                if count == 0 { _ = writer.header(for: picture, frameRate: (10, 1)) }
                _ = try writer.frame(picture)
                count += 1
            }
        }
        #expect(error.code == .videoSizeChanged)
        #expect(count == 30)
    }

    @Test("ffmpeg reads exactly the same samples from a WAV stream, and the loudspeakers of 5.1", arguments: Clips.all)
    func sound(_ clip: String) throws {
        let folder = try TemporaryFolder()
        let file = folder.file("a.wav")
        let buffers = try Pipeline.decodeAudio(clip)
        let first = try #require(buffers.first)
        var writer = WAVWriter()
        var data = Data(
            writer.header(sampleRate: first.sampleRate, channels: first.channels, channelMask: first.channelMask)
                .readableBytesView)
        for buffer in buffers { data.append(contentsOf: try writer.samples(buffer).readableBytesView) }
        try data.write(to: URL(fileURLWithPath: file))
        let samples = Data(buffers.flatMap { Array($0.samples.readableBytesView) })
        #expect(try FFmpegTool.rawAudio(file) == samples)
        let layout = try FFmpegTool.probe(file, ["-show_entries", "stream=channel_layout"])
        if first.channels == 6 { #expect(layout == "5.1") }
    }

    @Test("5.1 is converted to stereo, to mono and to another sample rate")
    func downmix() throws {
        let buffers = try Pipeline.decodeAudio(Clips.surround)
        let total = buffers.reduce(0) { $0 + $1.frameCount }
        for (rate, channels) in [(48000, 2), (48000, 1), (8000, 1)] {
            let converter = try AudioConverter(sampleRate: rate, channels: channels)
            var frames = 0
            var isSilent = true
            for buffer in buffers {
                let result = try converter.convert(buffer)
                #expect(result.sampleRate == rate)
                #expect(result.channels == channels)
                #expect(abs(result.pts - buffer.pts) < 5000)
                frames += result.frameCount
                if result.samples.readableBytesView.contains(where: { $0 != 0 }) { isSilent = false }
            }
            frames += try converter.flush()?.frameCount ?? 0
            #expect(abs(frames - total * rate / 48000) <= 2)
            #expect(!isSilent)
        }
    }
}
