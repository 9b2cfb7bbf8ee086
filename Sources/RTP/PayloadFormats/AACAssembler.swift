import IoTCore
import NIOCore

/// Parses AAC-hbr payloads (RFC 3640 §3.2, §3.3.6): several access units, or a fragment of one.
struct AACAssembler: Sendable {
    /// RTP ticks of one access unit.
    private let unitDuration: Int64

    private var partial: Partial?
    private var isAfterGap = false

    private struct Partial: Sendable {
        var frame: AssembledFrame

        /// The size of the whole access unit in bytes; each fragment carries it.
        var size: Int

        /// A gap precedes it, so that its first fragments may be missing. An incomplete unit is then not counted as
        /// damaged.
        var isAfterGap: Bool
    }

    init(codec: RTPCodec) {
        var duration: Int64 = 1_024
        if let bytes = codec.formatParameters["config"].flatMap({ Hex.decode($0) }),
            let core = AudioSpecificConfig(bytes)
        {
            // With SBR the RTP clock runs at a multiple of the core's rate.
            duration = Int64(core.coreSamplesPerUnit) * Int64(codec.clockRate) / Int64(core.coreSampleRate)
        }
        unitDuration = duration
    }

    mutating func skipGap() {
        partial = nil
        isAfterGap = true
    }

    mutating func receive(_ packet: AssemblyPacket) -> [AssemblyOutput] {
        defer { isAfterGap = false }
        var rest = packet.payload
        guard let headerBits = rest.readInteger(as: UInt16.self), headerBits > 0, headerBits % 16 == 0,
            var headers = rest.readSlice(length: Int(headerBits / 8))
        else { return abandon() + [.damaged] }

        if headerBits == 16, let header = headers.getInteger(at: headers.readerIndex, as: UInt16.self),
            Int(header >> 3) > rest.readableBytes
        {
            return receiveFragment(rest, of: Int(header >> 3), packet)
        }

        var outputs = abandon()
        var timestamp = packet.timestamp
        var isFirst = true
        while let header = headers.readInteger(as: UInt16.self) {
            // AU-Index of the first unit, AU-Index-delta of the others: the number of units that interleaving skips.
            if !isFirst { timestamp &+= unitDuration * Int64(1 + header & 7) }
            isFirst = false
            guard header >> 3 > 0, let unit = rest.readSlice(length: Int(header >> 3)) else {
                return outputs + [.damaged]
            }
            var frame = AssembledFrame(packet, bytes: unit)
            frame.timestamp = timestamp
            outputs.append(.frame(frame))
        }
        return outputs
    }

    private mutating func receiveFragment(
        _ piece: ByteBuffer, of size: Int, _ packet: AssemblyPacket
    ) -> [AssemblyOutput] {
        var outputs: [AssemblyOutput] = []
        if let old = partial, old.size != size || old.frame.timestamp != packet.timestamp { outputs = abandon() }
        var partial =
            self.partial.take()
            ?? Partial(
                frame: AssembledFrame(packet, bytes: ByteBufferAllocator().buffer(capacity: size)), size: size,
                isAfterGap: isAfterGap)
        partial.frame.bytes.writeImmutableBuffer(piece)
        partial.frame.note(arrival: packet.arrival)
        let missing = partial.size - partial.frame.bytes.readableBytes
        if missing == 0 {
            outputs.append(.frame(partial.frame))
        } else if missing < 0 {
            outputs.append(.damaged)
        } else {
            self.partial = partial
            if packet.marker { outputs += abandon() }
        }
        return outputs
    }

    /// Drops an access unit that cannot be completed any more.
    private mutating func abandon() -> [AssemblyOutput] {
        guard let partial = partial.take() else { return [] }
        return partial.isAfterGap ? [] : [.damaged]
    }
}
