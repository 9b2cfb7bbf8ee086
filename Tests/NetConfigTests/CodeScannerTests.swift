import Foundation
import IoTCore
import MediaCodec
import NIOCore
import NetConfig
import TestSupport
import Testing

/// A camera that looks at a code: real H.264, through the tree's own decoder.
@Suite(.timeLimit(.minutes(3))) struct CodeScannerTests {
    private static let payload = ProvisioningPayload(
        ssid: "前门 Wi-Fi", password: #"p;a:s\s"w,%20"#, token: "0123456789AbCdEfGhIjKlMnOpQrSt-_",
        hub: "iotlink://192.168.1.10:8883?ca=aGVsbG8gaGVsbG8gaGVsbG8gaGVsbG8gaGVsbG8gISE")

    /// How somebody holds the code.
    struct View: Sendable, CustomTestStringConvertible {
        var picture: String
        var side: Int
        var blur: Double
        var angle: Double

        var testDescription: String { "\(picture), \(side) pixels, blur \(blur), angle \(angle)" }
    }

    /// A video of a code that is turned, tilted, blurred, moved and covered with noise, at 8 pictures a second.
    private static func video(of view: View, in folder: URL) throws -> URL {
        let code = folder.appendingPathComponent("code.png")
        try Data(try ProvisioningQRCode.make(payload: payload).png).write(to: code)
        let video = folder.appendingPathComponent("video.mp4")
        let filters =
            "[1]scale=\(view.side):\(view.side),format=rgba,pad=iw+160:ih+160:80:80:color=0x00000000,"
            + "rotate=\(view.angle):c=none:ow=rotw(\(view.angle)):oh=roth(\(view.angle)),"
            + "perspective=x0=40:y0=60:x1=W-10:y1=0:x2=0:y2=H-20:x3=W-60:y3=H[code];"
            + "[0][code]overlay=60+12*n:10,gblur=sigma=\(view.blur),noise=alls=12:allf=t:all_seed=1"
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "color=0x707a80:s=\(view.picture):r=8",
            "-loop", "1", "-framerate", "8", "-i", code.path, "-filter_complex", filters, "-frames:v", "8",
            "-c:v", "libx264", "-preset", "veryfast", "-crf", "30", "-pix_fmt", "yuv420p", video.path,
        ]
        try process.start()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "ffmpeg is missing (apt-get install ffmpeg), or a filter of it")
        return video
    }

    private static func pictures(_ video: URL) throws -> [VideoPicture] {
        let demuxer = try MediaDemuxer(url: video.path)
        let decoder = try VideoDecoder(try #require(demuxer.video))
        var pictures: [VideoPicture] = []
        while let frame = try demuxer.readFrame() { pictures += try decoder.decode(frame) }
        return pictures + decoder.flush()
    }

    private static func scan(
        _ picture: VideoPicture, _ scanner: CodeScanner, at time: ContinuousClock.Instant
    ) throws -> [[UInt8]] {
        let (width, height) = (picture.width, picture.height)
        return try picture.packedBytes().withUnsafeReadableBytes { bytes in
            let plane = UnsafeRawBufferPointer(rebasing: bytes.prefix(width * height))
            return try scanner.scan(plane: plane, stride: width, width: width, height: height, at: time)
        }
    }

    private func withFolder<Value>(_ body: (URL) throws -> Value) throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("scan-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }

    @Test(
        "A code at an angle, blurred and scaled, is read from H.264 in each size of picture",
        arguments: [
            View(picture: "1280x720", side: 420, blur: 1.0, angle: 0.15),
            View(picture: "1280x720", side: 520, blur: 2.2, angle: -0.2),
            View(picture: "640x480", side: 330, blur: 0.8, angle: 0.1),
            // Made smaller before it is read.
            View(picture: "2560x1440", side: 900, blur: 3.0, angle: 0.3),
        ])
    func held(view: View) throws {
        let pictures = try withFolder { try Self.pictures(try Self.video(of: view, in: $0)) }
        #expect(pictures.count == 8)
        let scanner = CodeScanner()
        var time = ContinuousClock.now
        var found: Set<[UInt8]> = []
        for picture in pictures {
            found.formUnion(try Self.scan(picture, scanner, at: time))
            time += .milliseconds(250)
        }
        #expect(found == [try Self.payload.encoded(as: .tlv)])
        #expect(try ScannedCode(try #require(found.first)) == .network(Self.payload, .tlv))
    }

    @Test("It looks at so many pictures a second and no more, however many come")
    func bounded() throws {
        let view = View(picture: "640x480", side: 330, blur: 0.1, angle: 0)
        let pictures = try withFolder { try Self.pictures(try Self.video(of: view, in: $0)) }
        let picture = try #require(pictures.first)
        let scanner = CodeScanner(picturesPerSecond: 4)
        let start = ContinuousClock.now
        var seen: [Int] = []
        // 30 a second, for two seconds.
        for number in 0..<60 {
            let time = start + .seconds(number) / 30
            let isDue = scanner.isDue(at: time)
            let found = try Self.scan(picture, scanner, at: time)
            #expect(found.isEmpty == !isDue)
            if !found.isEmpty { seen.append(number) }
        }
        #expect(seen == [0, 8, 16, 24, 32, 40, 48, 56])
    }

    @Test("A plane becomes smaller by a whole factor, each pixel the mean of its block")
    func smaller() throws {
        // 4 × 5 pixels in rows of 6 bytes; what stands behind a row is not looked at.
        let plane: [UInt8] = [
            0, 10, 20, 30, 255, 255, 10, 20, 30, 40, 255, 255, 100, 100, 0, 0, 255, 255, 100, 104, 0, 1, 255, 255,
            9, 9, 9, 9,
        ]
        func make(_ stride: Int, _ width: Int, _ height: Int, _ side: Int) -> LumaPicture? {
            plane.withUnsafeBytes {
                LumaPicture(plane: $0, stride: stride, width: width, height: height, longestSide: side)
            }
        }
        #expect(make(6, 4, 5, 3) == LumaPicture(width: 2, height: 2, pixels: [10, 30, 101, 0]))
        #expect(make(6, 4, 4, 4)?.pixels.count == 16)
        // Smaller than it says, or no picture.
        for (stride, width, height) in [(6, 4, 6), (3, 4, 5), (6, 0, 5), (6, 4, 0), (6, 7, 1), (6, 20_000, 1)] {
            #expect(make(stride, width, height, 4) == nil)
        }
        #expect(LumaPicture(width: 2, height: 2, pixels: [1]) == nil)
    }

    @Test("A PNG of ours is read back, each byte of it, and several codes are told apart")
    func files() throws {
        let bytes = (0...255).map { UInt8($0) }
        let reader = try CodeReader()
        #expect(reader.read(try LumaPicture(png: try QRCode(bytes).png(size: 800))) == [bytes])
        let (left, right) = (
            try QRCode(Array("left".utf8)).png(size: 200), try QRCode(Array("right".utf8)).png(size: 200)
        )
        let pictures = try [left, right].map { try LumaPicture(png: $0) }
        let rows = (0..<200).flatMap { row in pictures.flatMap { $0.pixels[row * 200..<(row + 1) * 200] } }
        let both = try #require(LumaPicture(width: 400, height: 200, pixels: rows))
        #expect(Set(reader.read(both)) == [Array("left".utf8), Array("right".utf8)])
        #expect(reader.read(try #require(LumaPicture(width: 1, height: 1, pixels: [0]))).isEmpty)
        for wrong in [[], Array(left.prefix(20)), Array(left.dropLast(60)), Array("GIF89a".utf8)] as [[UInt8]] {
            let error = try #require(throws: IoTError.self) { _ = try LumaPicture(png: wrong) }
            #expect(error.code == .invalidQRInput)
        }
    }
}
