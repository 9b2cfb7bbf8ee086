import CFFmpeg
import IoTCore

/// A supported pixel format of V4L2.
struct CaptureFormat: Sendable, Equatable {
    enum Content: Sendable, Equatable {
        /// The device encodes. Its access units are forwarded.
        case coded(VideoCodec)
        case jpeg
        case raw(AVPixelFormat, [Plane])
    }

    /// One plane of a raw picture. Its stride and height are the picture's, divided by these numbers.
    struct Plane: Sendable, Equatable {
        var strideDivisor = 1
        var heightDivisor = 1
    }

    /// The four characters of V4L2's code.
    let name: String
    let content: Content

    /// In order of preference. The device's own H.264 and H.265 need no encoding, and every browser plays H.264. JPEG
    /// is before raw pictures, because USB carries only a few large raw pictures per second. Of the raw formats, 4:2:0
    /// is first, because it needs less memory and no conversion of the chroma.
    static let all: [CaptureFormat] = [
        CaptureFormat(name: "H264", content: .coded(.h264)),
        CaptureFormat(name: "HEVC", content: .coded(.h265)),
        CaptureFormat(name: "MJPG", content: .jpeg),
        CaptureFormat(name: "JPEG", content: .jpeg),
        CaptureFormat(name: "NV12", content: .raw(AV_PIX_FMT_NV12, [Plane(), Plane(heightDivisor: 2)])),
        CaptureFormat(
            name: "YU12",
            content: .raw(
                AV_PIX_FMT_YUV420P,
                [
                    Plane(), Plane(strideDivisor: 2, heightDivisor: 2), Plane(strideDivisor: 2, heightDivisor: 2),
                ])),
        CaptureFormat(name: "YUYV", content: .raw(AV_PIX_FMT_YUYV422, [Plane()])),
        CaptureFormat(name: "UYVY", content: .raw(AV_PIX_FMT_UYVY422, [Plane()])),
    ]

    var code: UInt32 { FourCC.code(name) }

    /// The bytes of one row of the first plane without padding; 0 unless raw.
    func leastStride(width: Int) -> Int {
        guard case .raw(_, let planes) = content else { return 0 }
        return planes.count == 1 ? 2 * width : width
    }

    /// The bytes of a raw picture; 0 unless raw.
    func pictureSize(stride: Int, height: Int) -> Int {
        guard case .raw(_, let planes) = content else { return 0 }
        return planes.reduce(0) { $0 + Self.size(of: $1, stride: stride, height: height) }
    }

    static func size(of plane: Plane, stride: Int, height: Int) -> Int {
        stride / plane.strideDivisor * ((height + plane.heightDivisor - 1) / plane.heightDivisor)
    }
}

/// V4L2's codes for pixel formats: four characters, the first in the lowest byte.
enum FourCC {
    static func code(_ name: String) -> UInt32 {
        name.utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The characters, for messages. Other characters than printable ASCII become "?".
    static func name(_ code: UInt32) -> String {
        String(
            decoding: (0..<4).map { index in
                let byte = UInt8(truncatingIfNeeded: code >> (8 * UInt32(index)))
                return (0x21...0x7E).contains(byte) ? byte : UInt8(ascii: "?")
            }, as: UTF8.self)
    }
}
