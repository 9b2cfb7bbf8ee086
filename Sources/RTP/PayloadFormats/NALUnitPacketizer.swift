import IoTCore
import NIOCore

/// H.264 in packetization mode 1 (RFC 6184 §5) and H.265 (RFC 7798 §4). Consecutive small NAL units share an
/// aggregation packet; large ones are split into fragments of equal size.
struct NALUnitPacketizer {
    let codec: VideoCodec
    let maximumPayloadSize: Int

    func payloads(of frame: MediaFrame) -> [ByteBuffer] {
        let units = frame.nalUnits.filter(isCarried)
        let size = frame.bytes.readableBytes
        var builder = PayloadBuilder(capacity: size + size / maximumPayloadSize * 3 + units.count * 4 + 16)
        var waiting: [ByteBuffer] = []
        var waitingSize = headerSize
        for unit in units {
            if waitingSize + 2 + unit.readableBytes > maximumPayloadSize {
                flush(&waiting, to: &builder)
                waitingSize = headerSize
            }
            if unit.readableBytes > maximumPayloadSize {
                fragment(unit, to: &builder)
            } else {
                waiting.append(unit)
                waitingSize += 2 + unit.readableBytes
            }
        }
        flush(&waiting, to: &builder)
        return builder.payloads()
    }

    /// Packetization mode 0 (RFC 6184 §6.2): each packet holds one NAL unit.
    ///
    /// - Throws: `mediaFailed` if a unit does not fit into one packet.
    func singleUnitPayloads(of frame: MediaFrame) throws(IoTError) -> [ByteBuffer] {
        let units = frame.nalUnits.filter(isCarried)
        if let longest = units.map(\.readableBytes).max(), longest > maximumPayloadSize {
            throw IoTError(
                .mediaFailed,
                "a NAL unit of \(longest) bytes does not fit into a packet: the encoder must produce smaller slices, "
                    + "or the peer must accept packetization-mode=1")
        }
        return units
    }

    private var headerSize: Int { codec == .h264 ? 1 : 2 }

    /// False for types that mark RTP packet structures (RFC 6184 table 1, RFC 7798 §4.4): they are invalid in a stream.
    private func isCarried(_ unit: ByteBuffer) -> Bool {
        guard unit.readableBytes >= headerSize, let first = unit.getInteger(at: unit.readerIndex, as: UInt8.self)
        else { return false }
        let type = NALUnitType(codec: codec, firstByte: first).rawValue
        return codec == .h264 ? (1...23).contains(type) : type < 48
    }

    private func flush(_ units: inout [ByteBuffer], to builder: inout PayloadBuilder) {
        defer { units.removeAll(keepingCapacity: true) }
        guard units.count > 1 else {
            if let unit = units.first { builder.add { $0.writeImmutableBuffer(unit) } }
            return
        }
        builder.add { buffer in
            writeAggregationHeader(units, to: &buffer)
            for unit in units {
                buffer.writeInteger(UInt16(truncatingIfNeeded: unit.readableBytes))
                buffer.writeImmutableBuffer(unit)
            }
        }
    }

    private func writeAggregationHeader(_ units: [ByteBuffer], to buffer: inout ByteBuffer) {
        switch codec {
        case .h264:
            // RFC 6184 §5.7: F is the OR of all units' F, NRI is their maximum.
            let firsts = units.compactMap { $0.getInteger(at: $0.readerIndex, as: UInt8.self) }
            let forbidden = firsts.reduce(0) { $0 | $1 & 0x80 }
            let importance = firsts.map { $0 & 0x60 }.max() ?? 0
            buffer.writeInteger(forbidden | importance | RTPNALUnitType.stapA)
        case .h265:
            // RFC 7798 §4.4.2: F is the OR of all units' F; LayerId and TID are their minimum.
            let headers = units.compactMap { $0.getInteger(at: $0.readerIndex, as: UInt16.self) }
            let forbidden = headers.reduce(0) { $0 | $1 & 0x8000 }
            let layer = headers.map { $0 & 0x01F8 }.min() ?? 0
            let temporal = headers.map { $0 & 0x0007 }.min() ?? 1
            buffer.writeInteger(forbidden | UInt16(RTPNALUnitType.aggregation) << 9 | layer | temporal)
        }
    }

    private func fragment(_ unit: ByteBuffer, to builder: inout PayloadBuilder) {
        var body = unit
        guard let first = body.readInteger(as: UInt8.self) else { return }
        let second: UInt8 = codec == .h265 ? body.readInteger(as: UInt8.self) ?? 1 : 0
        let type = NALUnitType(codec: codec, firstByte: first).rawValue
        let limit = maximumPayloadSize - headerSize - 1
        let count = (body.readableBytes + limit - 1) / limit
        let size = (body.readableBytes + count - 1) / count
        var isFirst = true
        while body.readableBytes > 0, let piece = body.readSlice(length: min(size, body.readableBytes)) {
            let flags: UInt8 = (isFirst ? 0x80 : 0) | (body.readableBytes == 0 ? 0x40 : 0)
            isFirst = false
            builder.add { buffer in
                switch codec {
                case .h264: buffer.writeMultipleIntegers(first & 0xE0 | RTPNALUnitType.fuA, flags | type)
                case .h265:
                    buffer.writeMultipleIntegers(first & 0x81 | RTPNALUnitType.fragmentation << 1, second, flags | type)
                }
                buffer.writeImmutableBuffer(piece)
            }
        }
    }
}

/// NAL unit types that exist in RTP only.
enum RTPNALUnitType {
    // RFC 6184 table 1
    static let stapA: UInt8 = 24
    static let fuA: UInt8 = 28

    // RFC 7798 §4.4
    static let aggregation: UInt8 = 48
    static let fragmentation: UInt8 = 49
}
