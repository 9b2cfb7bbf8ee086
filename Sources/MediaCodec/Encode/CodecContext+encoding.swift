import CFFmpeg
import IoTCore
import NIOCore

/// Encoding of audio and video.
extension CodecContext {
    /// Encodes `frame`.
    ///
    /// - Parameters:
    ///   - name: the encoding's name for error messages.
    ///   - packet: a packet for the output.
    /// - Returns: the packets that are ready.
    func encodeFrame(as name: String, through packet: CodecPacket) throws(IoTError) -> [EncodedPacket] {
        let result = avcodec_send_frame(pointer, frame)
        guard result >= 0 else { throw Self.failure(name, result) }
        return try receivePackets(as: name, through: packet)
    }

    /// Drains the encoder at the end of the stream.
    func finish(as name: String, through packet: CodecPacket) throws(IoTError) -> [EncodedPacket] {
        _ = avcodec_send_frame(pointer, nil)
        return try receivePackets(as: name, through: packet)
    }

    private func receivePackets(as name: String, through packet: CodecPacket) throws(IoTError) -> [EncodedPacket] {
        var packets: [EncodedPacket] = []
        while true {
            let result = avcodec_receive_packet(pointer, packet.pointer)
            if result == LibAVError.again || result == LibAVError.endOfFile { return packets }
            guard result >= 0, let data = packet.pointer.pointee.data else { throw Self.failure(name, result) }
            let bytes = UnsafeRawBufferPointer(start: data, count: Int(packet.pointer.pointee.size))
            packets.append(EncodedPacket(pts: packet.pointer.pointee.pts, bytes: ByteBuffer(bytes: bytes)))
            av_packet_unref(packet.pointer)
        }
    }

    private static func failure(_ name: String, _ result: Int32) -> IoTError {
        IoTError(.mediaFailed, "encoding as \(name) failed: \(LibAVError(result))")
    }
}
