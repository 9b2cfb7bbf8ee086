import Foundation
import IoTCore
import Testing

@testable import MediaCodec

@Suite("Negotiation with a capture device")
struct CaptureNegotiationTests {
    private static func sizes(_ texts: String) -> CaptureOffer.Sizes {
        .discrete(texts.split(separator: " ").map { size(String($0)) })
    }

    private static func size(_ text: String) -> PixelSize {
        let sides = text.split(separator: "x").compactMap { Int($0) }
        return PixelSize(width: sides[0], height: sides[1])
    }

    private static func offer(_ name: String, _ sizes: CaptureOffer.Sizes) -> CaptureOffer {
        CaptureOffer(code: FourCC.code(name), sizes: sizes)
    }

    @Test("The codes of formats are those of linux/videodev2.h")
    func codes() {
        // V4L2_PIX_FMT_YUYV and V4L2_PIX_FMT_H264, from the kernel's documentation of v4l2_fourcc.
        #expect(FourCC.code("YUYV") == 0x5659_5559 && FourCC.code("H264") == 0x3436_3248)
        #expect(FourCC.name(0x5659_5559) == "YUYV" && FourCC.name(0x0100_0A41) == "A???")
        #expect(Set(CaptureFormat.all.map(\.code)).count == CaptureFormat.all.count)
    }

    @Test(
        "H.264 is preferred to H.265, both to JPEG, and JPEG to raw pictures, in the largest size that fits",
        arguments: [
            // A webcam, which also offers raw pictures.
            (["YUYV 640x480 1280x720", "MJPG 640x480 1280x720 1920x1080"], "1280x720", "MJPG 1280x720"),
            (["MJPG 1920x1080", "H264 640x480 1920x1080"], "1280x720", "H264 640x480"),
            (["HEVC 1280x720", "H264 1280x720"], "1280x720", "H264 1280x720"),
            (["MJPG 1280x720", "HEVC 1280x720"], "1280x720", "HEVC 1280x720"),
            (["YUYV 640x480", "NV12 640x480"], "1280x720", "NV12 640x480"),
            (["BA81 640x480", "UYVY 640x480"], "640x480", "UYVY 640x480"),
            // If none fits, the smallest.
            (["MJPG 3840x2160 1920x1080"], "320x240", "MJPG 1920x1080"),
            // The largest area in any order. Both sides must fit.
            (["MJPG 640x480 800x600 1280x1024 320x240"], "1280x720", "MJPG 800x600"),
            // The driver does not list its sizes.
            (["MJPG"], "1280x720", "MJPG 1280x720"),
        ])
    func choice(offers: [String], wanted: String, expected: String) throws {
        let offers = offers.map { text in
            let words = text.split(separator: " ", maxSplits: 1).map(String.init)
            return Self.offer(words[0], Self.sizes(words.count > 1 ? words[1] : ""))
        }
        let choice = try #require(CaptureChoice(offers, wanted: Self.size(wanted)))
        #expect("\(choice.format.name) \(choice.size.width)x\(choice.size.height)" == expected)
    }

    @Test("Without a supported format there is no choice")
    func noChoice() {
        let wanted = PixelSize(width: 640, height: 480)
        #expect(CaptureChoice([], wanted: wanted) == nil)
        #expect(CaptureChoice([Self.offer("BA81", Self.sizes("640x480"))], wanted: wanted) == nil)
    }

    @Test("For sizes in steps, the largest step that fits is chosen")
    func steps() {
        let offer = Self.offer(
            "NV12",
            .stepwise(
                least: PixelSize(width: 32, height: 32), greatest: PixelSize(width: 1920, height: 1080),
                step: PixelSize(width: 32, height: 16)))
        for (wanted, expected) in [
            ("1280x720", "1280x720"), ("1300x725", "1280x720"), ("3840x2160", "1920x1072"), ("16x16", "32x32"),
        ] {
            #expect(offer.size(for: Self.size(wanted)) == Self.size(expected), "\(wanted)")
        }
        // A broken driver: a step of 0, and the maximum below the minimum.
        let broken = PixelSize(width: 0, height: 0)
        let odd = Self.offer("NV12", .stepwise(least: Self.size("640x480"), greatest: broken, step: broken))
        #expect(odd.size(for: Self.size("320x240")) == Self.size("640x480"))
    }

    @Test("The driver's answer is used if it is possible, and refused with the reason otherwise")
    func answer() throws {
        let all = Dictionary(uniqueKeysWithValues: CaptureFormat.all.map { ($0.name, $0) })
        func mode(_ name: String, _ answer: String, _ size: String, stride: Int) throws(IoTError) -> CaptureMode {
            guard let format = all[name] else { throw IoTError(.notFound) }
            return try CaptureMode(
                format, answer: FourCC.code(answer), size: Self.size(size), stride: stride, path: "/dev/video7")
        }
        #expect(try mode("YUYV", "YUYV", "640x480", stride: 1312).stride == 1312)
        #expect(try mode("YUYV", "YUYV", "640x480", stride: 0).stride == 1280)
        #expect(try mode("NV12", "NV12", "640x480", stride: 0).stride == 640)
        #expect(try mode("MJPG", "MJPG", "1920x1080", stride: 99).stride == 0)
        for (name, answer, size, stride, words) in [
            ("YUYV", "GREY", "640x480", 640, "it stays at GREY"), ("YUYV", "YUYV", "640x480", 1279, "rows of 1279"),
            ("YUYV", "YUYV", "640x480", 1 << 30, "rows of"), ("MJPG", "MJPG", "8x8", 0, "8x8 pixels"),
            ("MJPG", "MJPG", "1280x9000", 0, "1280x9000 pixels"),
        ] {
            let error = #expect(throws: IoTError.self) { try mode(name, answer, size, stride: stride) }
            #expect(error?.code == .sourceUnsupported && error?.message.contains(words) == true, "\(words)")
            #expect(error?.message.contains("/dev/video7") == true)
        }
    }

    @Test(
        "The size of a raw picture includes all its planes",
        arguments: [
            ("YUYV", 1_312, 629_760), ("UYVY", 1_280, 614_400), ("NV12", 640, 460_800), ("YU12", 672, 483_840),
        ])
    func pictureSize(name: String, stride: Int, bytes: Int) throws {
        let format = try #require(CaptureFormat.all.first { $0.name == name })
        #expect(format.pictureSize(stride: stride, height: 480) == bytes)
    }

    @Test("A driver that reports no frame rate, or a much higher one, is limited to the requested rate")
    func rate() {
        for (wanted, reported, expected) in [
            (30.0, nil, 30.0), (30, 30, 30), (30, 15, 15), (25, 30, 30), (30, 60, 30), (15, 30, 15), (30, 0, 30),
        ] as [(Double, Double?, Double)] {
            #expect(CaptureMode.rate(wanted: wanted, reported: reported) == expected)
        }
    }

    @Test(
        "Each errno has its error code and remedy",
        arguments: [
            (ENOENT, ErrorCode.sourceNotFound, "/dev/v4l/by-id"), (EACCES, .sourceForbidden, "`video`"),
            (EPERM, .sourceForbidden, "`video`"), (EBUSY, .sourceBusy, "fuser -v"),
            (ENOTTY, .sourceUnsupported, "-video-index0"), (ENODEV, .sourceUnreachable, "opens it again automatically"),
            (EIO, .sourceUnreachable, "opens it again automatically"), (ENOMEM, .sourceUnreachable, "kernel's log"),
        ])
    func failures(errno: Int32, code: ErrorCode, remedy: String) {
        let error = IoTError.capture(errno, "/dev/video7", whileDoing: "starting")
        #expect(error.code == code && error.message.contains("/dev/video7"), "\(error)")
        #expect(error.remedy.contains(remedy), "\(error.remedy)")
    }
}
