import CFFmpeg
public import IoTCore
import NIOCore

/// Decodes H.264 and H.265.
///
/// Pictures are returned in presentation order, with the pts of their frame, or an estimate if libav set none. The dts
/// are not used, so they may equal the pts, as in frames from RTP. Parameter sets and size may change in the stream.
/// Damage does not throw: it is counted, the damaged picture is marked, and frames are skipped until the next key
/// frame. Not Sendable. Decoding blocks, so use the decoder on its own thread.
public final class VideoDecoder {
    /// Frames in which the decoder found damage.
    public private(set) var errorCount = 0

    /// Frames skipped while waiting for a key frame.
    public private(set) var skippedFrames = 0

    private let codec: CodecContext
    private let packet: CodecPacket
    private var clock = OutputClock()
    private var isWaitingForKeyFrame = true

    /// - Parameters:
    ///   - parameters: Its parameter sets may be empty, because each key frame contains them.
    ///   - threads: The number of threads for slice decoding, which adds no delay. 1 to 16.
    /// - Throws: `codecUnsupported`, `mediaFailed`.
    public init(_ parameters: VideoParameters, threads: Int = 1) throws(IoTError) {
        packet = try CodecPacket()
        codec = try CodecContext(.decoder, parameters.codec.libavID) { context throws(IoTError) in
            context.pointee.thread_count = Int32(max(1, min(16, threads)))
            // Frame threading would delay each frame.
            context.pointee.thread_type = FF_THREAD_SLICE
            context.pointee.pkt_timebase = AVRational(num: 1, den: 1_000_000)
            // If the parameter sets do not specify the reorder depth, libav would start at 0 and lose pictures until it
            // has learnt it.
            context.pointee.has_b_frames = Int32(max(0, min(16, parameters.reorderDepth)))
            try CodecContext.setExtradata(
                DecoderConfiguration.record(codec: parameters.codec, parameterSets: parameters.parameterSets),
                of: context)
        }
    }

    /// Decodes the next frame in decoding order and returns the pictures that are now due: none, one or more.
    ///
    /// - Parameter isShown: False for a frame that is only a reference for others and is not shown.
    /// - Throws: `mediaFailed` if memory runs out.
    public func decode(_ frame: MediaFrame, isShown: Bool = true) throws(IoTError) -> [VideoPicture] {
        guard frame.kind == .video, frame.bytes.readableBytes > 0 else { return [] }
        if isWaitingForKeyFrame {
            guard frame.isKeyFrame else {
                skippedFrames += 1
                return []
            }
            isWaitingForKeyFrame = false
        }
        try packet.fill(frame.bytes, pts: frame.pts)
        packet.pointer.pointee.flags = (frame.isKeyFrame ? AV_PKT_FLAG_KEY : 0) | (isShown ? 0 : AV_PKT_FLAG_DISCARD)
        var pictures: [VideoPicture] = []
        let result = avcodec_send_packet(codec.pointer, packet.pointer)
        let didSend = try isFine(result)
        let didReceive = try receive(into: &pictures)
        if !didSend || !didReceive { try resynchronise(&pictures) }
        return pictures
    }

    /// Returns the remaining pictures at the end of a stream. Afterwards the decoder waits for a key frame.
    public func flush() -> [VideoPicture] {
        var pictures: [VideoPicture] = []
        // The only possible error is that memory runs out. The pictures decoded before it are still returned.
        try? drain(into: &pictures, areCorrupt: false)
        clock.reset()
        isWaitingForKeyFrame = true
        return pictures
    }

    /// Discards the buffered pictures, for example after a seek. Afterwards the decoder waits for a key frame.
    public func reset() {
        avcodec_flush_buffers(codec.pointer)
        clock.reset()
        isWaitingForKeyFrame = true
    }

    // Pictures decoded before the damage are still returned. Later ones may refer to the damaged one, so the decoder
    // waits for a key frame.
    private func resynchronise(_ pictures: inout [VideoPicture]) throws(IoTError) {
        errorCount += 1
        try drain(into: &pictures, areCorrupt: pictures.contains { $0.isCorrupt })
        isWaitingForKeyFrame = true
    }

    private func drain(into pictures: inout [VideoPicture], areCorrupt: Bool) throws(IoTError) {
        _ = avcodec_send_packet(codec.pointer, nil)
        _ = try receive(into: &pictures, areCorrupt: areCorrupt)
        avcodec_flush_buffers(codec.pointer)
    }

    /// Returns false if damage was found.
    private func receive(into pictures: inout [VideoPicture], areCorrupt: Bool = false) throws(IoTError) -> Bool {
        var isWhole = true
        // Bounded, because untrusted input might keep the decoder in this loop.
        for _ in 0..<64 {
            let result = avcodec_receive_frame(codec.pointer, codec.frame)
            if result == LibAVError.again || result == LibAVError.endOfFile { break }
            guard try isFine(result) else {
                isWhole = false
                continue
            }
            let frame = codec.frame.pointee
            if frame.decode_error_flags != 0 || frame.flags & AV_FRAME_FLAG_CORRUPT != 0 { isWhole = false }
            guard let pts = clock.place(frame.pts, duration: pictureDuration) else {
                av_frame_unref(codec.frame)
                continue
            }
            codec.frame.pointee.pts = pts
            pictures.append(try VideoPicture(taking: codec.frame, isCorrupt: areCorrupt || !isWhole))
        }
        return isWhole
    }

    /// The stream's frame duration in µs; 40 ms if unspecified.
    private var pictureDuration: Int64 {
        let rate = codec.pointer.pointee.framerate
        return rate.num > 0 && rate.den > 0 ? Int64(rate.den) * 1_000_000 / Int64(rate.num) : 40_000
    }

    private func isFine(_ result: Int32) throws(IoTError) -> Bool {
        if result == LibAVError.outOfMemory { throw IoTError.outOfMemory() }
        return result >= 0
    }
}
