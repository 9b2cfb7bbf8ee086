import CFFmpeg
import IoTCore
public import NIOCore
import Synchronization

/// One decoded picture.
///
/// `@unchecked Sendable` because it is immutable: it is the only owner of its AVFrame, libav counts references to the
/// buffers atomically, and nothing writes to them after the decoder has returned the picture.
public final class VideoPicture: @unchecked Sendable {
    let frame: UnsafeMutablePointer<AVFrame>

    /// The pts of the frame it was decoded from, in µs.
    public let pts: Int64

    /// Pixels, after cropping.
    public let width: Int
    public let height: Int

    /// libav's name for the pixel format: "yuv420p", "yuvj420p", "yuv420p10le", …
    public let format: String

    /// The decoder found damage in this picture or in one it refers to: do not show it as an intact picture.
    public let isCorrupt: Bool

    /// The picture as a Y4M frame, created on first use. All writers share its bytes.
    let rawFrame = Mutex<ByteBuffer?>(nil)

    /// Moves the buffers of `source` into the picture and leaves `source` empty.
    init(taking source: UnsafeMutablePointer<AVFrame>, isCorrupt: Bool) throws(IoTError) {
        guard let frame = av_frame_alloc() else { throw IoTError.outOfMemory() }
        av_frame_move_ref(frame, source)
        self.frame = frame
        pts = frame.pointee.pts
        width = Int(frame.pointee.width)
        height = Int(frame.pointee.height)
        format = av_get_pix_fmt_name(AVPixelFormat(frame.pointee.format)).map { String(cString: $0) } ?? "unknown"
        self.isCorrupt = isCorrupt
    }

    deinit {
        var frame: UnsafeMutablePointer<AVFrame>? = frame
        av_frame_free(&frame)
    }

    var pixelFormat: AVPixelFormat { AVPixelFormat(frame.pointee.format) }

    /// All planes one after another with unpadded rows, like the output of `ffmpeg -f rawvideo`.
    public func packedBytes() -> ByteBuffer {
        var buffer = ByteBuffer()
        appendPackedBytes(to: &buffer)
        return buffer
    }

    /// The size of `packedBytes()` in bytes.
    public var packedSize: Int {
        max(0, Int(av_image_get_buffer_size(pixelFormat, frame.pointee.width, frame.pointee.height, 1)))
    }

    func appendPackedBytes(to buffer: inout ByteBuffer) {
        let size = packedSize
        guard size > 0 else { return }
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: size) { destination in
            let written = withUnsafePointer(to: frame.pointee.data) { data in
                withUnsafePointer(to: frame.pointee.linesize) { strides in
                    av_image_copy_to_buffer(
                        destination.bindMemory(to: UInt8.self).baseAddress, Int32(size),
                        UnsafeRawPointer(data).assumingMemoryBound(to: UnsafePointer<UInt8>?.self),
                        UnsafeRawPointer(strides).assumingMemoryBound(to: Int32.self), pixelFormat,
                        frame.pointee.width, frame.pointee.height, 1)
                }
            }
            return max(0, Int(written))
        }
    }
}
