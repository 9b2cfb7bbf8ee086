import Foundation
import IoTCore
import NIOCore
import Testing

@testable import MediaCodec

@Suite("Encoding of captured pictures")
struct CapturedPicturesTests {
    private static let size = PixelSize(width: 320, height: 240)
    private static let padding = 32

    private static func mode(_ name: String) throws -> CaptureMode {
        let format = try #require(CaptureFormat.all.first { $0.name == name })
        let least = format.leastStride(width: size.width)
        return try CaptureMode(
            format, answer: format.code, size: size, stride: least == 0 ? 0 : least + padding, path: "/dev/video7")
    }

    /// Luma 60 in the left half and 200 in the right half; Cb 90, Cr 170; padding of 255 after each row.
    private static func raw(_ mode: CaptureMode) -> [UInt8] {
        let (width, height) = (size.width, size.height)
        func luma(_ x: Int) -> UInt8 { x < width / 2 ? 60 : 200 }
        func row(_ stride: Int, _ bytes: [UInt8]) -> [UInt8] {
            bytes + [UInt8](repeating: 255, count: stride - bytes.count)
        }
        func rows(_ count: Int, _ row: [UInt8]) -> [UInt8] { (0..<count).flatMap { _ in row } }
        let lumas = (0..<width).map(luma)
        let chromas = (0..<width).map { $0 % 2 == 0 ? UInt8(90) : 170 }
        switch mode.format.name {
        case "YUYV": return rows(height, row(mode.stride, zip(lumas, chromas).flatMap { [$0, $1] }))
        case "UYVY": return rows(height, row(mode.stride, zip(chromas, lumas).flatMap { [$0, $1] }))
        case "NV12": return rows(height, row(mode.stride, lumas)) + rows(height / 2, row(mode.stride, chromas))
        default:
            let half = [UInt8](repeating: 90, count: width / 2)
            return rows(height, row(mode.stride, lumas)) + rows(height / 2, row(mode.stride / 2, half))
                + rows(height / 2, row(mode.stride / 2, half.map { _ in 170 }))
        }
    }

    private static func jpeg(_ options: [String] = []) throws -> [UInt8] {
        Array(
            try FFmpegTool.run(
                ["-i", Clips.h264, "-frames:v", "1"] + options + [
                    "-c:v", "mjpeg", "-q:v", "2", "-f", "image2pipe", "-",
                ]))
    }

    private func encode(_ pictures: CapturedPictures, _ bytes: [UInt8], at time: Int64) throws -> MediaFrame? {
        try bytes.withUnsafeBytes { bytes throws(IoTError) in try pictures.encode(bytes, at: time) }
    }

    @Test("Raw pictures with padded rows are encoded without the padding", arguments: ["YUYV", "UYVY", "NV12", "YU12"])
    func raw(name: String) throws {
        let mode = try Self.mode(name)
        let pictures = try CapturedPictures(mode, frameRate: 30)
        let frame = try #require(try encode(pictures, Self.raw(mode), at: 5_000))
        #expect(frame.isKeyFrame && frame.pts == 5_000 && frame.dts == 5_000)
        let decoder = try VideoDecoder(try #require(pictures.parameters))
        let picture = try #require(try decoder.decode(frame).first ?? decoder.flush().first)
        #expect(picture.format == "yuv420p" && (picture.width, picture.height) == (320, 240))
        let bytes = Array(picture.packedBytes().readableBytesView)
        let (luma, chroma) = (320 * 240, 160 * 120)
        for (place, expected) in [
            (10 * 320 + 20, 60), (230 * 320 + 120, 60), (10 * 320 + 200, 200), (230 * 320 + 319, 200),
            (luma + 7 * 160 + 40, 90), (luma + 119 * 160 + 159, 90), (luma + chroma + 5_000, 170),
            (luma + 2 * chroma - 1, 170),
        ] {
            #expect(abs(Int(bytes[place]) - expected) <= 4, "\(name) at \(place): \(bytes[place])")
        }
    }

    @Test("A raw picture that is one byte short is dropped")
    func short() throws {
        for name in ["YUYV", "NV12"] {
            let mode = try Self.mode(name)
            let pictures = try CapturedPictures(mode, frameRate: 30)
            let whole = Self.raw(mode)
            #expect(try encode(pictures, Array(whole.dropLast()), at: 0) == nil)
            #expect(try encode(pictures, [], at: 1) == nil)
            #expect(try encode(pictures, whole, at: 2) != nil)
        }
    }

    @Test("A JPEG becomes nearly the same picture, also without Huffman tables, as webcams send it")
    func jpeg() throws {
        // With the Huffman tables of ISO/IEC 10918-1 Annex K, which decoders use by default.
        let jpeg = try Self.jpeg(["-vf", "scale=320:240", "-huffman", "default"])
        var bare = jpeg
        // Remove the DHT segments, which define the tables (§B.2.4.2).
        while let start = bare.indices.dropLast(3).first(where: { bare[$0] == 0xFF && bare[$0 + 1] == 0xC4 }) {
            bare.removeSubrange(start..<(start + 2 + Int(bare[start + 2]) * 256 + Int(bare[start + 3])))
        }
        #expect(bare.count < jpeg.count)
        let wanted = try FFmpegTool.rawVideo(
            Clips.h264, ["-frames:v", "1", "-vf", "scale=320:240", "-pix_fmt", "yuv420p"])
        for bytes in [jpeg, bare] {
            let pictures = try CapturedPictures(try Self.mode("MJPG"), frameRate: 30)
            let frame = try #require(try encode(pictures, bytes, at: 0))
            let decoder = try VideoDecoder(try #require(pictures.parameters))
            let picture = try #require(try decoder.decode(frame).first ?? decoder.flush().first)
            let decoded = Data(picture.packedBytes().readableBytesView)
            #expect(decoded.count == wanted.count && peakSignalToNoise(wanted, decoded) > 30)
        }
    }

    @Test("A damaged JPEG, a JPEG of another size and other bytes are dropped, and the next JPEG is encoded")
    func damaged() throws {
        let jpeg = try Self.jpeg(["-vf", "scale=320:240"])
        let pictures = try CapturedPictures(try Self.mode("MJPG"), frameRate: 30)
        var generator = SystemRandomNumberGenerator()
        let noise = (0..<5_000).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
        var time: Int64 = 0
        for (name, bytes) in [
            ("nothing", []), ("noise", noise), ("only a header", Array(jpeg.prefix(100))),
            ("another size", try Self.jpeg(["-vf", "scale=160:120"])), ("a huge one", try Self.jpeg()),
        ] {
            time += 1
            #expect(try encode(pictures, bytes, at: time) == nil, "\(name)")
            time += 1
            #expect(try encode(pictures, jpeg, at: time) != nil, "after \(name)")
        }
    }

    @Test(
        "Each picture gives its frame immediately, with a key frame every two seconds, also when pictures are missing")
    func keyFrames() throws {
        let mode = try Self.mode("NV12")
        let pictures = try CapturedPictures(mode, frameRate: 25)
        let bytes = Self.raw(mode)
        let decoder = try VideoDecoder(VideoParameters(codec: .h264))
        var keys: [Int64] = []
        var decoded: [Int64] = []
        // 25 per second for 3 s, then every fourth.
        let times = (0..<75).map { Int64($0) * 40_000 } + (0..<25).map { 3_000_000 + Int64($0) * 160_000 }
        for time in times {
            let frame = try #require(try encode(pictures, bytes, at: time))
            #expect(frame.pts == time && frame.dts == time)
            if frame.isKeyFrame { keys.append(time) }
            decoded += try decoder.decode(frame).map(\.pts)
        }
        decoded += decoder.flush().map(\.pts)
        #expect(keys == [0, 2_000_000, 4_000_000 + 120_000, 6_000_000 + 200_000])
        #expect(decoded == times)
        let parameters = try #require(pictures.parameters)
        #expect(parameters.profile?.name == "Main" && parameters.reorderDepth == 0)
        #expect((parameters.width, parameters.height) == (320, 240))
    }

    @Test("An odd size loses its last row and column")
    func odd() throws {
        let format = try #require(CaptureFormat.all.first { $0.name == "YUYV" })
        let size = PixelSize(width: 321, height: 241)
        let mode = try CaptureMode(format, answer: format.code, size: size, stride: 644, path: "")
        let pictures = try CapturedPictures(mode, frameRate: 30)
        _ = try encode(pictures, [UInt8](repeating: 128, count: 644 * 241), at: 0)
        #expect(pictures.parameters?.width == 320 && pictures.parameters?.height == 240)
    }
}
