import CFFmpeg
import IoTCore
import NIOCore

/// Encodes a device's pictures, raw or JPEG, as H.264.
final class CapturedPictures {
    private let mode: CaptureMode
    private let encoder: H264Encoder
    private let decoder: CodecContext?
    private let packet: CodecPacket
    private var scaler: OpaquePointer?
    private var scalerFormat = AV_PIX_FMT_NONE

    init(_ mode: CaptureMode, frameRate: Double) throws(IoTError) {
        self.mode = mode
        packet = try CodecPacket()
        // The chroma of 4:2:0 needs even sides, so the last row or column of an odd size is left out.
        encoder = try H264Encoder(width: mode.size.width & ~1, height: mode.size.height & ~1, frameRate: frameRate)
        guard mode.format.content == .jpeg else {
            decoder = nil
            return
        }
        decoder = try CodecContext(.decoder, AV_CODEC_ID_MJPEG) { context throws(IoTError) in
            context.pointee.thread_count = 1
            // Limits what the decoder allocates for a damaged header.
            context.pointee.max_pixels = Int64(4 * mode.size.area)
        }
    }

    deinit {
        sws_freeContext(scaler)
    }

    var parameters: VideoParameters? { encoder.parameters }

    /// - Parameter time: µs.
    /// - Returns: `nil` if the picture is damaged or incomplete.
    func encode(_ bytes: UnsafeRawBufferPointer, at time: Int64) throws(IoTError) -> MediaFrame? {
        let isWhole =
            switch mode.format.content {
            case .raw(let format, let planes): try convert(bytes, format, planes)
            case .jpeg: try decode(bytes)
            case .coded: false
            }
        return isWhole ? try encoder.encode(at: time) : nil
    }

    private func convert(
        _ bytes: UnsafeRawBufferPointer, _ format: AVPixelFormat, _ planes: [CaptureFormat.Plane]
    ) throws(IoTError) -> Bool {
        guard let base = bytes.baseAddress,
            bytes.count >= mode.format.pictureSize(stride: mode.stride, height: mode.size.height)
        else { return false }
        var data: [UnsafePointer<UInt8>?] = []
        var strides: [Int32] = []
        var offset = 0
        for plane in planes {
            data.append((base + offset).assumingMemoryBound(to: UInt8.self))
            strides.append(Int32(clamping: mode.stride / plane.strideDivisor))
            offset += CaptureFormat.size(of: plane, stride: mode.stride, height: mode.size.height)
        }
        while data.count < 4 {
            data.append(nil)
            strides.append(0)
        }
        return try scale(data, strides, format, isFullRange: false)
    }

    private func decode(_ bytes: UnsafeRawBufferPointer) throws(IoTError) -> Bool {
        guard let decoder, !bytes.isEmpty else { return false }
        try packet.fill(ByteBuffer(bytes: bytes), pts: 0)
        let frame = decoder.frame
        av_frame_unref(frame)
        guard avcodec_send_packet(decoder.pointer, packet.pointer) >= 0,
            avcodec_receive_frame(decoder.pointer, frame) >= 0
        else {
            avcodec_flush_buffers(decoder.pointer)
            return false
        }
        guard frame.pointee.decode_error_flags == 0, frame.pointee.flags & AV_FRAME_FLAG_CORRUPT == 0,
            Int(frame.pointee.width) == mode.size.width, Int(frame.pointee.height) == mode.size.height
        else { return false }
        let (data, strides) = (frame.pointee.data, frame.pointee.linesize)
        // JPEG uses the full range (JFIF 1.02 §7).
        return try scale(
            [data.0, data.1, data.2, data.3].map { $0.map { UnsafePointer($0) } },
            [strides.0, strides.1, strides.2, strides.3], AVPixelFormat(frame.pointee.format), isFullRange: true)
    }

    /// Converts the picture into the encoder's frame.
    private func scale(
        _ data: [UnsafePointer<UInt8>?], _ strides: [Int32], _ format: AVPixelFormat, isFullRange: Bool
    ) throws(IoTError) -> Bool {
        let scaler = try scaler(for: format, isFullRange: isFullRange)
        let target = try encoder.writableFrame()
        let rows = withUnsafeMutablePointer(to: &target.pointee.data) { planes in
            planes.withMemoryRebound(to: UnsafeMutablePointer<UInt8>?.self, capacity: 8) { planes in
                withUnsafePointer(to: &target.pointee.linesize) { targetStrides in
                    targetStrides.withMemoryRebound(to: Int32.self, capacity: 8) { targetStrides in
                        sws_scale(scaler, data, strides, 0, Int32(encoder.height), planes, targetStrides)
                    }
                }
            }
        }
        return Int(rows) == encoder.height
    }

    private func scaler(for format: AVPixelFormat, isFullRange: Bool) throws(IoTError) -> OpaquePointer {
        if let scaler, scalerFormat == format { return scaler }
        sws_freeContext(scaler)
        let (width, height) = (Int32(encoder.width), Int32(encoder.height))
        scaler = sws_getContext(
            width, height, format, width, height, AV_PIX_FMT_YUV420P, SWS_BILINEAR, nil, nil, nil)
        guard let scaler else {
            throw IoTError(.mediaFailed, "pictures of \(mode.format.name) cannot be converted")
        }
        scalerFormat = format
        let matrix = sws_getCoefficients(SWS_CS_DEFAULT)
        sws_setColorspaceDetails(scaler, matrix, isFullRange ? 1 : 0, matrix, 0, 0, 1 << 16, 1 << 16)
        return scaler
    }
}
