import CFFmpeg
import IoTCore
import NIOCore

/// A reusable AVPacket.
final class CodecPacket {
    let pointer: UnsafeMutablePointer<AVPacket>

    init() throws(IoTError) {
        guard let pointer = av_packet_alloc() else { throw IoTError.outOfMemory() }
        self.pointer = pointer
    }

    deinit {
        var pointer: UnsafeMutablePointer<AVPacket>? = pointer
        av_packet_free(&pointer)
    }

    /// Copies `bytes` into the packet, with the padding that libav's parsers require.
    func fill(_ bytes: ByteBuffer, pts: Int64) throws(IoTError) {
        av_packet_unref(pointer)
        guard bytes.readableBytes <= Int32.max - 64, av_new_packet(pointer, Int32(bytes.readableBytes)) >= 0 else {
            throw IoTError.outOfMemory()
        }
        bytes.withUnsafeReadableBytes { source in
            if let base = source.baseAddress, let data = pointer.pointee.data, !source.isEmpty {
                data.update(from: base.assumingMemoryBound(to: UInt8.self), count: source.count)
            }
        }
        pointer.pointee.pts = pts
        pointer.pointee.dts = cffmpeg_no_timestamp()
    }
}
