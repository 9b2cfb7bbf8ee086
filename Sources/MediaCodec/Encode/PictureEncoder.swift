import CFFmpeg
public import IoTCore
public import NIOCore

/// Encodes single pictures as files: JPEG and PNG.
public enum PictureEncoder {
    /// A baseline JPEG (JFIF, BT.601, full range, 4:2:0).
    ///
    /// - Parameters:
    ///   - size: In pixels; by default the picture's own size.
    ///   - quality: 1 to 100, similar to other JPEG encoders' scale; other values are clamped.
    /// - Throws: `mediaFailed`, also for a picture with more than 65,500 pixels per side.
    public static func jpeg(
        _ picture: VideoPicture, size: (width: Int, height: Int)? = nil, quality: Int = 85
    ) throws(IoTError) -> ByteBuffer {
        try encode(
            picture, AV_CODEC_ID_MJPEG, AV_PIX_FMT_YUVJ420P, isFullRange: true, scale: quantiser(quality), size: size)
    }

    /// A PNG of 8-bit RGB.
    public static func png(_ picture: VideoPicture) throws(IoTError) -> ByteBuffer {
        try encode(picture, AV_CODEC_ID_PNG, AV_PIX_FMT_RGB24, isFullRange: false, scale: nil, size: nil)
    }

    // libjpeg's quality selects a percentage of the standard's tables; 50 is 100 %. libavcodec's scale multiplies its
    // own table, which at 8 is about as coarse.
    private static func quantiser(_ quality: Int) -> Int32 {
        let quality = max(1, min(100, quality))
        let percentage = quality < 50 ? 5000 / quality : 200 - 2 * quality
        return Int32(max(1, min(31, (percentage * 8 + 50) / 100)))
    }

    private static func encode(
        _ picture: VideoPicture, _ id: AVCodecID, _ format: AVPixelFormat, isFullRange: Bool, scale: Int32?,
        size: (width: Int, height: Int)?
    ) throws(IoTError) -> ByteBuffer {
        LibAV.initialize()
        let size = size ?? (width: picture.width, height: picture.height)
        var frame: UnsafeMutablePointer<AVFrame>? = try PictureScaler.convert(
            picture, to: format, isFullRange: isFullRange, size: size)
        defer { av_frame_free(&frame) }
        let codec = try CodecContext(.encoder, id) { context throws(IoTError) in
            context.pointee.width = Int32(clamping: size.width)
            context.pointee.height = Int32(clamping: size.height)
            context.pointee.pix_fmt = format
            context.pointee.time_base = AVRational(num: 1, den: 25)
            context.pointee.thread_count = 1
            context.pointee.color_range = isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
            if let scale {
                context.pointee.qmin = 1
                context.pointee.flags |= AV_CODEC_FLAG_QSCALE
                context.pointee.global_quality = scale * cffmpeg_qp_to_lambda()
            }
        }
        if let scale { frame?.pointee.quality = scale * cffmpeg_qp_to_lambda() }
        let packet = try CodecPacket()
        var result = avcodec_send_frame(codec.pointer, frame)
        if result >= 0 { result = avcodec_send_frame(codec.pointer, nil) }
        if result >= 0 { result = avcodec_receive_packet(codec.pointer, packet.pointer) }
        guard result >= 0, let data = packet.pointer.pointee.data else {
            throw IoTError(.mediaFailed, "encoding a picture failed: \(LibAVError(result))")
        }
        return ByteBuffer(bytes: UnsafeRawBufferPointer(start: data, count: Int(packet.pointer.pointee.size)))
    }
}
