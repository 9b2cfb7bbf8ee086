import CFFmpeg
public import IoTCore

extension VideoPicture {
    /// The picture, turned. Pixel formats whose planes cannot be turned alone become 8-bit 4:2:0.
    ///
    /// - Throws: `mediaFailed` if its pixel format cannot be converted.
    public func rotated(_ rotation: PictureRotation) throws(IoTError) -> VideoPicture {
        guard rotation != .none else { return self }
        guard let form = PlanarForm(pixelFormat), !rotation.isSideways || form.isSquare else {
            let isFullRange = frame.pointee.color_range == AVCOL_RANGE_JPEG
            var converted: UnsafeMutablePointer<AVFrame>? = try PictureScaler.convert(
                self, to: AV_PIX_FMT_YUV420P, isFullRange: isFullRange, size: (width, height))
            defer { av_frame_free(&converted) }
            guard let converted else { throw IoTError.outOfMemory() }
            converted.pointee.pts = pts
            return try VideoPicture(taking: converted, isCorrupt: isCorrupt).rotated(rotation)
        }
        var result = av_frame_alloc()
        defer { av_frame_free(&result) }
        guard let target = result else { throw IoTError.outOfMemory() }
        target.pointee.format = frame.pointee.format
        target.pointee.width = Int32(rotation.isSideways ? height : width)
        target.pointee.height = Int32(rotation.isSideways ? width : height)
        guard av_frame_get_buffer(target, 0) >= 0, av_frame_copy_props(target, frame) >= 0 else {
            throw IoTError.outOfMemory()
        }
        if rotation.isSideways {
            let aspect = frame.pointee.sample_aspect_ratio
            target.pointee.sample_aspect_ratio = AVRational(num: aspect.den, den: aspect.num)
        }
        for (plane, shift) in form.shifts.enumerated() {
            guard let from = PictureFrame.plane(plane, of: frame), let to = PictureFrame.plane(plane, of: target) else {
                continue
            }
            let size = (-(-width >> shift.x), -(-height >> shift.y))
            if form.bytesPerSample == 2 {
                Self.turn(from.as(UInt16.self), to.as(UInt16.self), size, rotation)
            } else {
                Self.turn(from.as(UInt8.self), to.as(UInt8.self), size, rotation)
            }
        }
        return try VideoPicture(taking: target, isCorrupt: isCorrupt)
    }

    /// - Parameter size: Of the source's plane, in samples.
    private static func turn<Sample>(
        _ source: PictureFrame.Samples<Sample>, _ target: PictureFrame.Samples<Sample>,
        _ size: (width: Int, height: Int),
        _ rotation: PictureRotation
    ) {
        let (width, height) = size
        for y in 0..<height {
            let row = source.begin + y * source.stride
            switch rotation {
            case .none: break
            case .half:
                let end = target.begin + (height - 1 - y) * target.stride + width - 1
                for x in 0..<width { end[-x] = row[x] }
            case .left:
                let last = target.begin + (width - 1) * target.stride + y
                for x in 0..<width { last[-x * target.stride] = row[x] }
            case .right:
                let first = target.begin + height - 1 - y
                for x in 0..<width { first[x * target.stride] = row[x] }
            }
        }
    }
}

/// A pixel format with one plane for each component, and samples of whole bytes.
private struct PlanarForm {
    let bytesPerSample: Int
    /// By how many bits each plane's width and height are shifted.
    let shifts: [(x: Int, y: Int)]

    init?(_ format: AVPixelFormat) {
        guard let description = av_pix_fmt_desc_get(format)?.pointee else { return nil }
        let flags = description.flags
        let unfit = UInt64(AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL)
        let parts = [description.comp.0, description.comp.1, description.comp.2, description.comp.3]
            .prefix(Int(description.nb_components))
        guard flags & unfit == 0, let first = parts.first else { return nil }
        bytesPerSample = Int(first.depth + 7) / 8
        for (index, part) in parts.enumerated() {
            guard part.plane == Int32(index), part.step == Int32(bytesPerSample), part.offset == 0 else { return nil }
        }
        guard bytesPerSample <= 2 else { return nil }
        let isColoured = flags & UInt64(AV_PIX_FMT_FLAG_RGB) == 0
        shifts = parts.indices.map { index in
            isColoured && (index == 1 || index == 2)
                ? (Int(description.log2_chroma_w), Int(description.log2_chroma_h)) : (0, 0)
        }
    }

    /// True if a plane that is turned has the form of a plane of the same format.
    var isSquare: Bool { shifts.allSatisfy { $0.x == $0.y } }
}
