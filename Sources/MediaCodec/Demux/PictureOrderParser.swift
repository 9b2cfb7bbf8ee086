import CFFmpeg
import IoTCore
import NIOCore

/// Reads a picture's order count from its slice header, with libav's own parser.
final class PictureOrderParser {
    private var parser: UnsafeMutablePointer<AVCodecParserContext>?
    private var context: UnsafeMutablePointer<AVCodecContext>?

    init(codec: VideoCodec) throws(IoTError) {
        let id = codec.libavID
        parser = av_parser_init(Int32(bitPattern: id.rawValue))
        context = avcodec_alloc_context3(avcodec_find_decoder(id))
        guard let parser, let context else {
            free()
            throw IoTError.outOfMemory()
        }
        parser.pointee.flags |= PARSER_FLAG_COMPLETE_FRAMES
        context.pointee.codec_id = id
    }

    deinit {
        free()
    }

    private func free() {
        av_parser_close(parser)
        avcodec_free_context(&context)
    }

    /// - Parameter accessUnit: NAL units with 4-byte length prefixes, including the parameter sets.
    func orderCount(of accessUnit: ByteBuffer) -> Int {
        guard let parser, let context else { return 0 }
        var bytes: [UInt8] = []
        for unit in NALUnitSequence(accessUnit) {
            bytes += [0, 0, 0, 1]
            bytes += unit.readableBytesView
        }
        let count = Int32(bytes.count)
        bytes += [UInt8](repeating: 0, count: Int(cffmpeg_input_padding()))
        var output: UnsafeMutablePointer<UInt8>?
        var outputSize: Int32 = 0
        _ = bytes.withUnsafeBufferPointer { buffer in
            av_parser_parse2(
                parser, context, &output, &outputSize, buffer.baseAddress, count, cffmpeg_no_timestamp(),
                cffmpeg_no_timestamp(), 0)
        }
        return Int(parser.pointee.output_picture_number)
    }
}

extension VideoCodec {
    var libavID: AVCodecID {
        switch self {
        case .h264: AV_CODEC_ID_H264
        case .h265: AV_CODEC_ID_HEVC
        }
    }

    init?(_ id: AVCodecID) {
        switch id {
        case AV_CODEC_ID_H264: self = .h264
        case AV_CODEC_ID_HEVC: self = .h265
        default: return nil
        }
    }
}
