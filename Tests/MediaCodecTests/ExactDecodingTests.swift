import Foundation
import IoTCore
import MediaCodec
import NIOCore
import Testing

/// The demuxer's frames decode to exactly ffmpeg's pictures: same count, order and bytes.
@Suite("Exact decoding")
struct ExactDecodingTests {
    @Test("All pictures of each sample equal ffmpeg's", arguments: Clips.all)
    func samples(_ clip: String) throws {
        let reference = try FFmpegTool.rawVideo(clip)
        #expect(try Pipeline.difference(clip, from: reference) == nil)
    }

    @Test("B-frames are decoded in order from presentation times alone, as from RTP")
    func presentationTimesOnly() throws {
        let reference = try FFmpegTool.rawVideo(Clips.bFrames)
        #expect(try Pipeline.difference(Clips.bFrames, from: reference, asFromRTP: true) == nil)
    }

    @Test(
        "The same stream in other containers decodes the same",
        arguments: [
            (Clips.h264, "a.ts"), (Clips.h265, "a.ts"), (Clips.bFrames, "a.ts"), (Clips.h264, "a.h264"),
            (Clips.h265, "a.h265"), (Clips.bFrames, "a.h264"), (Clips.h265, "a.mkv"), (Clips.bFrames, "a.mp4"),
            (Clips.h264, "a.flv"), (Clips.h264, "a.avi"),
        ])
    func containers(_ clip: String, _ name: String) throws {
        let folder = try TemporaryFolder()
        let file = folder.file(name)
        try FFmpegTool.run(["-i", clip, "-map", "0:v:0", "-c", "copy", file], allowMessages: true)
        let reference = try FFmpegTool.rawVideo(file)
        #expect(try Pipeline.difference(file, from: reference) == nil)
    }

    @Test("A clip cut with an edit list shows the same pictures as in ffmpeg")
    func editList() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("cut.mp4")
        try FFmpegTool.run(["-ss", "3.35", "-i", Clips.bFrames, "-map", "0:v:0", "-c", "copy", file])
        let reference = try FFmpegTool.rawVideo(file)
        #expect(try Pipeline.difference(file, from: reference) == nil)
    }

    @Test("A new picture size in the stream changes the parameters and the following pictures")
    func sizeChange() throws {
        let reference = try FFmpegTool.rawVideo(Clips.sizeChange, ["-autoscale", "0"])
        #expect(try Pipeline.difference(Clips.sizeChange, from: reference) == nil)
        let demuxer = try MediaDemuxer(url: Clips.sizeChange)
        var sizes: [[Int]] = []
        while try demuxer.readFrame() != nil {
            let size = [demuxer.video?.width ?? 0, demuxer.video?.height ?? 0]
            if sizes.last != size { sizes.append(size) }
        }
        #expect(sizes == [[384, 288], [768, 576]])
    }

    @Test("Audio equals ffmpeg's samples, except what an edit list removes", arguments: Clips.all)
    func sound(_ clip: String) throws {
        let reference = try FFmpegTool.rawAudio(clip)
        let buffers = try Pipeline.decodeAudio(clip)
        let ours = Data(buffers.flatMap { Array($0.samples.readableBytesView) })
        let channels = buffers.first?.channels ?? 1
        // Without the priming access unit, the first 1024 samples lack their overlap; the last ones are not trimmed.
        let start = 2 * 1024 * channels
        #expect(ours.count >= reference.count)
        #expect(ours.count - reference.count <= 2 * 1024 * channels)
        #expect(ours[start..<reference.count] == reference[start...])
    }
}
