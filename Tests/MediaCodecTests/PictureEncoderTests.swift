import Foundation
import IoTCore
import MediaCodec
import NIOCore
import Testing

@Suite("Picture encoder")
struct PictureEncoderTests {
    @Test("JPEG and PNG decode to the source picture", arguments: Clips.all)
    func nearTheSource(_ clip: String) throws {
        let folder = try TemporaryFolder()
        let picture = try firstPicture(clip)
        let source = picture.packedBytes()
        let jpeg = folder.file("a.jpg")
        let png = folder.file("a.png")
        try Data(PictureEncoder.jpeg(picture).readableBytesView).write(to: URL(fileURLWithPath: jpeg))
        try Data(PictureEncoder.png(picture).readableBytesView).write(to: URL(fileURLWithPath: png))
        for (file, codec, least) in [(jpeg, "mjpeg", 34.0), (png, "png", 40.0)] {
            let probe = try FFmpegTool.probe(file, ["-show_entries", "stream=codec_name,width,height"])
            #expect(probe == "\(codec)\n\(picture.width)\n\(picture.height)")
            let decoded = try FFmpegTool.rawVideo(
                file, ["-vf", "scale=out_range=tv:flags=accurate_rnd", "-pix_fmt", "yuv420p"])
            #expect(decoded.count == source.readableBytes)
            #expect(peakSignalToNoise(Data(source.readableBytesView), decoded) > least, "\(codec)")
        }
    }

    @Test("Size grows with quality, and any quality number is accepted")
    func quality() throws {
        let picture = try firstPicture(Clips.h264)
        let sizes = try [-5, 1, 30, 60, 85, 100, 500].map {
            try PictureEncoder.jpeg(picture, quality: $0).readableBytes
        }
        #expect(sizes == sizes.sorted())
        #expect(sizes[0] == sizes[1] && sizes[5] == sizes[6])
        #expect(sizes[1] * 4 < sizes[5])
    }

    @Test("A smaller JPEG contains the whole picture, scaled", arguments: Clips.all)
    func scaled(_ clip: String) throws {
        let folder = try TemporaryFolder()
        let picture = try firstPicture(clip)
        let file = folder.file("a.jpg")
        let size = (width: 321, height: 181)
        try Data(PictureEncoder.jpeg(picture, size: size).readableBytesView).write(to: URL(fileURLWithPath: file))
        let probe = try FFmpegTool.probe(file, ["-show_entries", "stream=codec_name,width,height"])
        #expect(probe == "mjpeg\n321\n181")
        // Compare with ffmpeg's scaling of the source.
        let scale = ["-vf", "scale=321:181:flags=bicubic:out_range=tv", "-pix_fmt", "gray"]
        let wanted = try FFmpegTool.rawVideo(clip, ["-frames:v", "1"] + scale)
        let decoded = try FFmpegTool.rawVideo(file, scale)
        #expect(decoded.count == 321 * 181 && wanted.count == decoded.count)
        #expect(peakSignalToNoise(wanted, decoded) > 28)
    }

    private func firstPicture(_ clip: String) throws -> VideoPicture {
        let demuxer = try MediaDemuxer(url: clip)
        let decoder = try VideoDecoder(try #require(demuxer.video))
        while let frame = try demuxer.readFrame() {
            if let picture = try decoder.decode(frame).first { return picture }
        }
        return try #require(decoder.flush().first)
    }
}
