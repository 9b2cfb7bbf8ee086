import CFFmpeg
import IoTCore

/// The AVCodecContext of a decoder or encoder, and the frame that it writes or reads.
final class CodecContext {
    let pointer: UnsafeMutablePointer<AVCodecContext>
    let frame: UnsafeMutablePointer<AVFrame>

    enum Role {
        case decoder
        case encoder
    }

    /// Creates the context, calls `configure`, and then opens the context.
    ///
    /// - Parameter encoder: libav's name of the encoder; by default, libav's first encoder of the codec.
    init(
        _ role: Role, _ id: AVCodecID, encoder: String? = nil,
        configure: (UnsafeMutablePointer<AVCodecContext>) throws(IoTError) -> Void
    ) throws(IoTError) {
        LibAV.initialize()
        let codec =
            switch role {
            case .decoder: avcodec_find_decoder(id)
            case .encoder: encoder.map { avcodec_find_encoder_by_name($0) } ?? avcodec_find_encoder(id)
            }
        let name = avcodec_get_name(id).map { String(cString: $0) } ?? "unknown"
        guard let codec else {
            throw IoTError(
                .codecUnsupported, "this build of libavcodec has no \(role) for \(name)",
                remedy: "install Debian's libavcodec59")
        }
        var context = avcodec_alloc_context3(codec)
        var frame = av_frame_alloc()
        guard let pointer = context, let framePointer = frame else {
            avcodec_free_context(&context)
            av_frame_free(&frame)
            throw IoTError.outOfMemory()
        }
        do throws(IoTError) {
            try configure(pointer)
            let result = avcodec_open2(pointer, codec, nil)
            guard result >= 0 else {
                throw IoTError(
                    .mediaFailed,
                    "the \(name) \(role) did not start (\(LibAVError(result))): the track's parameters are invalid")
            }
        } catch {
            avcodec_free_context(&context)
            av_frame_free(&frame)
            throw error
        }
        self.pointer = pointer
        self.frame = framePointer
    }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = pointer
        avcodec_free_context(&context)
        var frame: UnsafeMutablePointer<AVFrame>? = frame
        av_frame_free(&frame)
    }

    /// Sets a copy of `bytes` as the context's extradata. Call it before the context is opened.
    static func setExtradata(_ bytes: [UInt8], of context: UnsafeMutablePointer<AVCodecContext>) throws(IoTError) {
        guard let copy = copyForLibAV(bytes) else { throw IoTError.outOfMemory() }
        context.pointee.extradata = copy
        context.pointee.extradata_size = Int32(bytes.count)
    }

    /// A zero-padded copy that libav may free.
    static func copyForLibAV(_ bytes: [UInt8]) -> UnsafeMutablePointer<UInt8>? {
        guard let memory = av_mallocz(bytes.count + Int(cffmpeg_input_padding())) else { return nil }
        let copy = memory.assumingMemoryBound(to: UInt8.self)
        copy.update(from: bytes, count: bytes.count)
        return copy
    }
}
