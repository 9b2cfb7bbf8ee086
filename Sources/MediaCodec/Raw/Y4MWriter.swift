import CFFmpeg
public import IoTCore
public import NIOCore
import Synchronization

/// Writes YUV4MPEG2, the raw video that ffmpeg, mpv and encoders read from a pipe.
///
/// Pictures in a Y4M pixel format are written unchanged; others are converted to 8-bit 4:2:0.
public struct Y4MWriter: Sendable {
    private struct Form: Equatable {
        var width: Int
        var height: Int
        var format: String
    }

    private var form: Form?

    public init() {}

    /// The header line, from the first picture.
    ///
    /// - Parameter frameRate: Frames per second as a fraction. Players use only this, because Y4M has no times.
    public mutating func header(
        for picture: VideoPicture, frameRate: (numerator: Int, denominator: Int)
    ) -> ByteBuffer {
        form = Form(width: picture.width, height: picture.height, format: picture.format)
        let frame = picture.frame.pointee
        let aspect = frame.sample_aspect_ratio
        let isFullRange = picture.format.hasPrefix("yuvj") || frame.color_range == AVCOL_RANGE_JPEG
        let rate = frameRate.numerator > 0 && frameRate.denominator > 0 ? frameRate : (25, 1)
        var line = "YUV4MPEG2 W\(picture.width) H\(picture.height) F\(rate.0):\(rate.1) Ip"
        line += aspect.num > 0 && aspect.den > 0 ? " A\(aspect.num):\(aspect.den)" : " A0:0"
        line += " C" + (Self.tag(of: picture) ?? "420jpeg")
        line += isFullRange ? " XCOLORRANGE=FULL\n" : "\n"
        return ByteBuffer(string: line)
    }

    /// One frame with its header line and unpadded rows. The bytes are created once and shared by all writers.
    ///
    /// - Throws: `videoSizeChanged` if the size or format differs from the header's, because Y4M cannot express a
    ///   change; `stateMismatch` before the header.
    public func frame(_ picture: VideoPicture) throws(IoTError) -> ByteBuffer {
        guard let form else {
            throw IoTError(.stateMismatch, "the Y4M header must precede the first frame")
        }
        guard form == Form(width: picture.width, height: picture.height, format: picture.format) else {
            throw IoTError(
                .videoSizeChanged,
                "the picture changed from \(form.width)x\(form.height) to \(picture.width)x\(picture.height), which a "
                    + "Y4M stream cannot express")
        }
        return try picture.rawFrame.withLock { made throws(IoTError) in
            if let made { return made }
            let frame = try Self.makeFrame(of: picture)
            made = frame
            return frame
        }
    }

    private static func makeFrame(of picture: VideoPicture) throws(IoTError) -> ByteBuffer {
        var buffer = ByteBuffer(string: "FRAME\n")
        if tag(of: picture) != nil {
            picture.appendPackedBytes(to: &buffer)
        } else {
            var frame: UnsafeMutablePointer<AVFrame>? = try PictureScaler.convert(
                picture, to: AV_PIX_FMT_YUV420P, isFullRange: picture.frame.pointee.color_range == AVCOL_RANGE_JPEG,
                size: (picture.width, picture.height))
            defer { av_frame_free(&frame) }
            guard let converted = frame else { throw IoTError.outOfMemory() }
            try VideoPicture(taking: converted, isCorrupt: picture.isCorrupt).appendPackedBytes(to: &buffer)
        }
        return buffer
    }

    // The tags of mjpegtools and, for 10 bits, of ffmpeg and x265.
    private static func tag(of picture: VideoPicture) -> String? {
        switch picture.format {
        case "gray": "mono"
        case "yuv420p", "yuvj420p":
            switch picture.frame.pointee.chroma_location {
            case AVCHROMA_LOC_TOPLEFT: "420paldv"
            case AVCHROMA_LOC_LEFT: "420mpeg2"
            default: "420jpeg"
            }
        case "yuv422p", "yuvj422p": "422"
        case "yuv444p", "yuvj444p": "444"
        case "yuv411p": "411"
        case "yuv420p10le": "420p10"
        case "yuv422p10le": "422p10"
        case "yuv444p10le": "444p10"
        default: nil
        }
    }
}
