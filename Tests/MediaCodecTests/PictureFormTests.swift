import Foundation
import IoTCore
import NIOCore
import Testing

@testable import MediaCodec

/// Turned and fitted pictures, beside ffmpeg's filters.
@Suite struct PictureFormTests {
    private static let count = 5

    private func pictures(_ clip: String) throws -> [VideoPicture] {
        let demuxer = try MediaDemuxer(url: clip)
        let decoder = try VideoDecoder(try #require(demuxer.video))
        var pictures: [VideoPicture] = []
        while pictures.count < Self.count, let frame = try demuxer.readFrame() { pictures += try decoder.decode(frame) }
        return Array(pictures.prefix(Self.count))
    }

    private func bytes(_ pictures: [VideoPicture]) -> Data {
        pictures.reduce(into: Data()) { $0 += Data($1.packedBytes().readableBytesView) }
    }

    @Test(
        "A turned picture has the pixels of ffmpeg's filter", arguments: [Clips.h264, Clips.h265],
        [(.left, "transpose=cclock"), (.half, "hflip,vflip"), (.right, "transpose=clock")]
            as [(PictureRotation, String)])
    func rotation(clip: String, turn: (rotation: PictureRotation, filter: String)) throws {
        let turned = try pictures(clip).map { try $0.rotated(turn.rotation) }
        let wanted = try FFmpegTool.rawVideo(clip, ["-frames:v", "\(Self.count)", "-vf", turn.filter])
        #expect(bytes(turned) == wanted)
        let source = try pictures(clip)
        #expect(turned.map(\.pts) == source.map(\.pts))
        #expect(turned[0].width == (turn.rotation.isSideways ? source[0].height : source[0].width))
    }

    @Test("Four quarter turns give the picture again, also with odd sizes and samples of 10 bits")
    func fullTurn() throws {
        for (format, size) in [
            ("yuv420p", "98x54"), ("yuv444p10le", "97x53"), ("yuv420p10le", "98x54"),
        ] {
            let source = try picture(format, size)
            var turned = source
            for _ in 0..<4 { turned = try turned.rotated(.left) }
            #expect(turned.packedBytes() == source.packedBytes(), "\(format)")
            #expect(try source.rotated(.left).rotated(.left).packedBytes() == source.rotated(.half).packedBytes())
        }
        // Half the chroma in one direction only: turned sideways, the picture becomes 4:2:0.
        let source = try picture("yuv422p", "96x54")
        #expect(try source.rotated(.left).format == "yuv420p" && source.rotated(.half).format == "yuv422p")
        #expect(try source.rotated(.left).pts == source.pts)
    }

    private func picture(_ format: String, _ size: String) throws -> VideoPicture {
        let folder = try TemporaryFolder()
        let file = folder.file("a.mkv")
        try FFmpegTool.run([
            "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=25:duration=1", "-pix_fmt", format, "-c:v", "libx264",
            file,
        ])
        let picture = try #require(try pictures(file).first)
        #expect(picture.format == format)
        return picture
    }

    @Test("A fitted picture has black bars, is cropped, or is stretched", arguments: PictureScaling.allCases)
    func fit(scaling: PictureScaling) throws {
        let source = try #require(try pictures(Clips.h264).first)
        #expect(source.width == 768 && source.height == 576)
        let fit = try #require(PictureFit(width: 400, height: 400, scaling: scaling))
        let fitted = try source.fitted(fit)
        #expect(fitted.width == 400 && fitted.height == 400 && fitted.format == "yuv420p" && fitted.pts == source.pts)
        let filter =
            switch scaling {
            case .none: "crop=400:400"
            case .aspectFit: "scale=400:300:flags=bicubic,pad=400:400:0:50:black"
            case .aspectFill: "crop=576:576,scale=400:400:flags=bicubic"
            case .fill: "scale=400:400:flags=bicubic"
            }
        let wanted = try FFmpegTool.rawVideo(
            Clips.h264, ["-frames:v", "1", "-vf", filter + ",setsar=1", "-pix_fmt", "yuv420p"])
        let found = Data(fitted.packedBytes().readableBytesView)
        #expect(found.count == wanted.count && peakSignalToNoise(wanted, found) > 40)
        let luma = found.prefix(400 * 400)
        let bars = luma.prefix(400 * 50) + luma.suffix(400 * 50)
        #expect(bars.allSatisfy { $0 == 16 } == (scaling == .aspectFit))
    }

    @Test("The volumes hold for the left and the right channel, and their mean for mono and all others")
    func volume() {
        func sound(_ channels: Int, _ values: [Int16]) -> AudioBuffer {
            var bytes = ByteBuffer()
            for value in values { bytes.writeInteger(value, endianness: .little) }
            return AudioBuffer(pts: 7, sampleRate: 8_000, channels: channels, samples: bytes)
        }
        let volume = SoundVolume(left: 0.5, right: 0)
        let cases: [(AudioBuffer, AudioBuffer)] = [
            (sound(1, [1_000, -1_000, .max, .min]), sound(1, [250, -250, 8_192, -8_192])),
            (sound(2, [1_000, 1_000, .min, .max]), sound(2, [500, 0, -16_384, 0])),
            (sound(3, [1_000, 1_000, 1_000]), sound(3, [500, 0, 250])),
        ]
        for (source, wanted) in cases {
            let scaled = source.scaled(volume)
            #expect(scaled.samples == wanted.samples && scaled.pts == 7 && scaled.channels == source.channels)
            #expect(source.scaled(.full).samples == source.samples)
            #expect(source.scaled(SoundVolume(left: 0, right: 0)).samples.readableBytesView.allSatisfy { $0 == 0 })
        }
    }
}
