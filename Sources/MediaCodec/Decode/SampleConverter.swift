import CFFmpeg
import IoTCore
import NIOCore

/// Wraps libswresample: converts samples from one format to another.
final class SampleConverter {
    struct Format: Equatable {
        var sampleFormat: AVSampleFormat
        var sampleRate: Int
        var channels: Int
        /// 0 selects the default layout for the number of channels.
        var channelMask: UInt64

        static func == (a: Format, b: Format) -> Bool {
            a.sampleFormat == b.sampleFormat && a.sampleRate == b.sampleRate && a.channels == b.channels
                && a.channelMask == b.channelMask
        }

        func withLayout<R>(_ body: (UnsafeMutablePointer<AVChannelLayout>) -> R) -> R {
            var layout = AVChannelLayout()
            defer { av_channel_layout_uninit(&layout) }
            if channelMask == 0 || av_channel_layout_from_mask(&layout, channelMask) < 0
                || Int(layout.nb_channels) != channels
            {
                av_channel_layout_uninit(&layout)
                av_channel_layout_default(&layout, Int32(channels))
            }
            return body(&layout)
        }
    }

    let input: Format
    let output: Format
    private var context: OpaquePointer?

    /// `output.sampleFormat` must be interleaved.
    init(from input: Format, to output: Format) throws(IoTError) {
        self.input = input
        self.output = output
        var context: OpaquePointer?
        let result = input.withLayout { source in
            output.withLayout { target in
                swr_alloc_set_opts2(
                    &context, target, output.sampleFormat, Int32(output.sampleRate), source, input.sampleFormat,
                    Int32(input.sampleRate), 0, nil)
            }
        }
        guard result >= 0, swr_init(context) >= 0 else {
            swr_free(&context)
            throw IoTError(.mediaFailed, "audio of this format cannot be converted: the stream is damaged")
        }
        self.context = context
    }

    deinit {
        swr_free(&context)
    }

    /// The duration of the audio that resampling holds back, in µs.
    var delay: Int64 {
        max(0, swr_get_delay(context, 1_000_000))
    }

    /// - Parameters:
    ///   - planes: A pointer per plane (one if interleaved); nil drains the samples that resampling holds back.
    ///   - count: Samples per channel.
    /// - Returns: The samples written per channel.
    func convert(
        _ planes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, count: Int, into buffer: inout ByteBuffer
    ) throws(IoTError) -> Int {
        let bytesPerFrame = Int(av_get_bytes_per_sample(output.sampleFormat)) * output.channels
        let capacity = Int(swr_get_out_samples(context, Int32(clamping: count)))
        guard capacity >= 0, bytesPerFrame > 0 else { return 0 }
        var written: Int32 = 0
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: capacity * bytesPerFrame) { destination in
            var target: UnsafeMutablePointer<UInt8>? = destination.bindMemory(to: UInt8.self).baseAddress
            written = swr_convert(context, &target, Int32(capacity), planes, Int32(clamping: count))
            return max(0, Int(written)) * bytesPerFrame
        }
        guard written >= 0 else {
            throw IoTError(.mediaFailed, "converting audio failed: \(LibAVError(written))")
        }
        return Int(written)
    }
}
