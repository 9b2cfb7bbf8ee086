import CFFmpeg
public import IoTCore

extension VideoPicture {
    /// Calls `body` with the picture's luma plane, one byte per pixel, and with its stride in bytes.
    ///
    /// A picture in another format, for example with 10 bits per sample, is converted first.
    ///
    /// - Throws: `mediaFailed` for a pixel format that cannot be converted.
    public func withLuma<Value>(
        _ body: (UnsafeRawBufferPointer, _ stride: Int) throws(IoTError) -> Value
    ) throws(IoTError) -> Value {
        if hasPlaneOfLuma { return try Self.withLuma(frame, height: height, body) }
        var grey: UnsafeMutablePointer<AVFrame>? = try PictureScaler.convert(
            self, to: AV_PIX_FMT_GRAY8, isFullRange: true, size: (width, height))
        defer { av_frame_free(&grey) }
        guard let frame = grey else { throw IoTError.outOfMemory() }
        return try Self.withLuma(frame, height: height, body)
    }

    private var hasPlaneOfLuma: Bool {
        guard let descriptor = av_pix_fmt_desc_get(pixelFormat)?.pointee else { return false }
        let luma = descriptor.comp.0
        let isColour = descriptor.flags & UInt64(AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL) != 0
        return !isColour && luma.plane == 0 && luma.step == 1 && luma.depth == 8 && frame.pointee.linesize.0 > 0
    }

    private static func withLuma<Value>(
        _ frame: UnsafeMutablePointer<AVFrame>, height: Int,
        _ body: (UnsafeRawBufferPointer, _ stride: Int) throws(IoTError) -> Value
    ) throws(IoTError) -> Value {
        let stride = Int(frame.pointee.linesize.0)
        return try body(UnsafeRawBufferPointer(start: frame.pointee.data.0, count: stride * height), stride)
    }
}
