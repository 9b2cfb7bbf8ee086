import NIOCore

/// Parses MPA payloads (RFC 2250 §3.5): several frames of MPEG audio, or a fragment of one. Each frame is returned with
/// its header.
struct MPEGAudioAssembler: Sendable {
    /// RTP ticks per second: 90,000.
    private let clockRate: Int

    private var partial: Partial?
    /// Whether packets were missing, and no frame has begun since then.
    private var isAfterGap = false

    private struct Partial: Sendable {
        var frame: AssembledFrame
        /// The size of the whole frame in bytes.
        var size: Int
    }

    init(clockRate: Int) {
        self.clockRate = clockRate
    }

    mutating func skipGap() {
        partial = nil
        isAfterGap = true
    }

    mutating func receive(_ packet: AssemblyPacket) -> [AssemblyOutput] {
        var rest = packet.payload
        // 16 bits that must be zero, then the offset of the first byte in its frame.
        guard let (_, offset) = rest.readMultipleIntegers(as: (UInt16, UInt16).self), rest.readableBytes > 0 else {
            return abandon() + [.damaged]
        }
        return offset > 0 ? receiveFragment(rest, at: Int(offset), packet) : receiveFrames(rest, packet)
    }

    private mutating func receiveFrames(_ bytes: ByteBuffer, _ packet: AssemblyPacket) -> [AssemblyOutput] {
        isAfterGap = false
        var outputs = abandon()
        var rest = bytes
        var timestamp = packet.timestamp
        while let start = rest.getInteger(at: rest.readerIndex, as: UInt32.self) {
            guard let header = MPEGAudioHeader(start) else { return outputs + [.damaged] }
            let available = min(header.frameSize, rest.readableBytes)
            guard let bytes = rest.readSlice(length: available) else { break }
            var frame = AssembledFrame(packet, bytes: bytes)
            frame.timestamp = timestamp
            timestamp &+= Int64(header.sampleCount * clockRate / header.sampleRate)
            if available == header.frameSize {
                outputs.append(.frame(frame))
            } else {
                partial = Partial(frame: frame, size: header.frameSize)
            }
        }
        return rest.readableBytes > 0 ? outputs + [.damaged] : outputs
    }

    private mutating func receiveFragment(
        _ bytes: ByteBuffer, at offset: Int, _ packet: AssemblyPacket
    ) -> [AssemblyOutput] {
        guard var partial = partial.take() else {
            // After a gap, the frame's first fragment may be missing.
            return isAfterGap ? [] : [.damaged]
        }
        guard partial.frame.bytes.readableBytes == offset, offset + bytes.readableBytes <= partial.size else {
            return [.damaged]
        }
        partial.frame.bytes.writeImmutableBuffer(bytes)
        partial.frame.note(arrival: packet.arrival)
        guard partial.frame.bytes.readableBytes == partial.size else {
            self.partial = partial
            return []
        }
        return [.frame(partial.frame)]
    }

    /// Drops a frame that cannot be completed any more.
    private mutating func abandon() -> [AssemblyOutput] {
        partial.take() == nil ? [] : [.damaged]
    }
}
