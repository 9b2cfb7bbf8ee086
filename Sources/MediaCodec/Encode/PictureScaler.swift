import CFFmpeg
import IoTCore

/// Wraps libswscale: converts a picture to another pixel format and size.
struct PictureScaler {
    private init() {}

    enum Method {
        /// Accurate rounding and full chroma cost little for one picture and preserve quality.
        case fine
        /// Each pixel is the mean of those that it replaces.
        case mean

        fileprivate var flags: Int32 {
            switch self {
            case .fine: SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT
            case .mean: SWS_AREA
            }
        }
    }

    /// - Parameters:
    ///   - isFullRange: The colour range of the result, unless it is RGB.
    ///   - size: The size of the result in pixels.
    /// - Returns: A frame. The caller must free it.
    static func convert(
        _ picture: VideoPicture, to format: AVPixelFormat, isFullRange: Bool, size: (width: Int, height: Int),
        method: Method = .fine
    ) throws(IoTError) -> UnsafeMutablePointer<AVFrame> {
        let source = picture.frame
        let (width, height) = (Int32(clamping: size.width), Int32(clamping: size.height))
        guard
            let scaler = sws_getContext(
                source.pointee.width, source.pointee.height, picture.pixelFormat, width, height, format, method.flags,
                nil,
                nil, nil)
        else {
            throw IoTError(.mediaFailed, "a picture with pixel format \(picture.format) cannot be converted")
        }
        defer { sws_freeContext(scaler) }
        let sourceIsFull =
            source.pointee.color_range == AVCOL_RANGE_JPEG || picture.format.hasPrefix("yuvj") ? Int32(1) : 0
        let matrix = source.pointee.colorspace
        // JPEG and rawvideo carry no matrix. An unspecified matrix is taken as BT.601, like in libav. A specified one
        // is kept for Y4M and converted to BT.601 for JPEG (JFIF 1.02 §7).
        let sourceMatrix = sws_getCoefficients(
            matrix == AVCOL_SPC_UNSPECIFIED || matrix == AVCOL_SPC_RGB ? SWS_CS_DEFAULT : Int32(matrix.rawValue))
        let targetMatrix = isFullRange ? sws_getCoefficients(SWS_CS_DEFAULT) : sourceMatrix
        sws_setColorspaceDetails(
            scaler, sourceMatrix, sourceIsFull, targetMatrix, isFullRange ? 1 : 0, 0, 1 << 16, 1 << 16)
        var result = av_frame_alloc()
        guard let target = result else { throw IoTError.outOfMemory() }
        target.pointee.format = format.rawValue
        target.pointee.width = width
        target.pointee.height = height
        target.pointee.color_range = isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        target.pointee.pts = 0
        guard av_frame_get_buffer(target, 0) >= 0, sws_scale_frame(scaler, target, source) >= 0 else {
            av_frame_free(&result)
            throw IoTError(.mediaFailed, "a picture with pixel format \(picture.format) cannot be converted")
        }
        return target
    }
}
