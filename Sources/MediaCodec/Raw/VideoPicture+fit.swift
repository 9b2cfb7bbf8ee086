import CFFmpeg
public import IoTCore

extension VideoPicture {
    /// The picture at another size, with 8-bit 4:2:0 samples and square pixels.
    ///
    /// - Throws: `mediaFailed` if its pixel format cannot be converted.
    public func fitted(_ fit: PictureFit) throws(IoTError) -> VideoPicture {
        let ratio = frame.pointee.sample_aspect_ratio
        let (source, target) = fit.areas(
            width: width, height: height,
            pixelAspect: ratio.num > 0 && ratio.den > 0 ? Double(ratio.num) / Double(ratio.den) : 1)
        let isFullRange = frame.pointee.color_range == AVCOL_RANGE_JPEG || format.hasPrefix("yuvj")
        var scaled: UnsafeMutablePointer<AVFrame>? = try PictureScaler.convert(
            try cropped(to: source), to: AV_PIX_FMT_YUV420P, isFullRange: isFullRange,
            size: (target.width, target.height))
        defer { av_frame_free(&scaled) }
        guard let scaled else { throw IoTError.outOfMemory() }
        var canvas = av_frame_alloc()
        defer { av_frame_free(&canvas) }
        guard let result = canvas else { throw IoTError.outOfMemory() }
        result.pointee.format = AV_PIX_FMT_YUV420P.rawValue
        result.pointee.width = Int32(fit.width)
        result.pointee.height = Int32(fit.height)
        result.pointee.color_range = scaled.pointee.color_range
        result.pointee.colorspace = frame.pointee.colorspace
        result.pointee.pts = pts
        guard av_frame_get_buffer(result, 0) >= 0 else { throw IoTError.outOfMemory() }
        for index in 0..<3 {
            guard let from = PictureFrame.plane(index, of: scaled), let to = PictureFrame.plane(index, of: result)
            else {
                throw IoTError.outOfMemory()
            }
            let shift = index == 0 ? 0 : 1
            if target.width != fit.width || target.height != fit.height {
                let black: UInt8 = index > 0 ? 128 : isFullRange ? 0 : 16
                to.begin.update(repeating: black, count: to.stride * (fit.height >> shift))
            }
            for row in 0..<(target.height >> shift) {
                let place = ((target.top >> shift) + row) * to.stride + (target.left >> shift)
                (to.begin + place).update(from: from.begin + row * from.stride, count: target.width >> shift)
            }
        }
        return try VideoPicture(taking: result, isCorrupt: isCorrupt)
    }

    /// A part of the picture. Its samples are not copied.
    private func cropped(to area: PictureFit.Area) throws(IoTError) -> VideoPicture {
        guard area != PictureFit.Area(left: 0, top: 0, width: width, height: height) else { return self }
        var clone = av_frame_clone(frame)
        defer { av_frame_free(&clone) }
        guard let part = clone else { throw IoTError.outOfMemory() }
        part.pointee.crop_left = area.left
        part.pointee.crop_top = area.top
        part.pointee.crop_right = width - area.left - area.width
        part.pointee.crop_bottom = height - area.top - area.height
        guard av_frame_apply_cropping(part, Int32(AV_FRAME_CROP_UNALIGNED)) >= 0 else {
            throw IoTError(.mediaFailed, "a picture with pixel format \(format) cannot be cropped")
        }
        return try VideoPicture(taking: part, isCorrupt: isCorrupt)
    }
}
