import CFFmpeg
import IoTCore
import NIOCore

/// Audio encoding.
extension CodecContext {
    /// Allocates space in `frame` for samples in the encoder's format.
    ///
    /// - Returns: the frame's planes.
    func makeFrame(
        sampleCount: Int, pts: Int64
    ) throws(IoTError) -> UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?> {
        av_frame_unref(frame)
        frame.pointee.format = pointer.pointee.sample_fmt.rawValue
        frame.pointee.nb_samples = Int32(sampleCount)
        frame.pointee.sample_rate = pointer.pointee.sample_rate
        av_channel_layout_copy(&frame.pointee.ch_layout, &pointer.pointee.ch_layout)
        frame.pointee.pts = pts
        guard av_frame_get_buffer(frame, 0) >= 0, let planes = frame.pointee.extended_data else {
            throw IoTError.outOfMemory()
        }
        return planes
    }

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
        IoTError(.mediaFailed, "encoding audio as \(name) failed: \(LibAVError(result))")
    }
}
