import NIOCore

/// The Data Channel Establishment Protocol (RFC 8832 §5).
enum DCEPMessage: Equatable {
    struct Open: Equatable {
        var label: String
        var subprotocol: String
        var isOrdered = true
        var reliability = DataChannelReliability.reliable
        var priority: UInt16 = 256
    }

    case open(Open)
    case acknowledgement

    private static let acknowledgementType: UInt8 = 2
    private static let openType: UInt8 = 3
    private static let unordered: UInt8 = 0x80

    /// The longest label or subprotocol in bytes, ours and the peer's. RFC 8832 allows 65,535, which is never needed.
    static let maximumNameSize = 1024

    /// `nil` for a message that is malformed, unknown, or too long.
    init?(parsing payload: ByteBuffer) {
        var buffer = payload
        switch buffer.readInteger(as: UInt8.self) {
        case Self.acknowledgementType:
            self = .acknowledgement
        case Self.openType:
            guard
                let (kind, priority, parameter) = buffer.readMultipleIntegers(as: (UInt8, UInt16, UInt32).self),
                let (labelSize, protocolSize) = buffer.readMultipleIntegers(as: (UInt16, UInt16).self),
                labelSize <= Self.maximumNameSize, protocolSize <= Self.maximumNameSize,
                let label = buffer.readSlice(length: Int(labelSize)),
                let subprotocol = buffer.readSlice(length: Int(protocolSize))
            else { return nil }
            var open = Open(
                label: String(buffer: label), subprotocol: String(buffer: subprotocol),
                isOrdered: kind & Self.unordered == 0, priority: priority)
            switch kind & ~Self.unordered {
            case 0: break
            case 1: open.reliability = .maxRetransmits(Int(parameter))
            case 2: open.reliability = .maxPacketLifeTime(.milliseconds(Int64(parameter)))
            default: return nil
            }
            self = .open(open)
        default:
            return nil
        }
    }

    func write() -> ByteBuffer {
        var buffer = ByteBuffer()
        switch self {
        case .acknowledgement:
            buffer.writeInteger(Self.acknowledgementType)
        case .open(let open):
            var kind: UInt8 = open.isOrdered ? 0 : Self.unordered
            var parameter: UInt32 = 0
            switch open.reliability {
            case .reliable: break
            case .maxRetransmits(let count):
                kind |= 1
                parameter = UInt32(clamping: count)
            case .maxPacketLifeTime(let time):
                kind |= 2
                parameter = UInt32(clamping: time.nanoseconds / 1_000_000)
            }
            buffer.writeMultipleIntegers(
                Self.openType, kind, open.priority, parameter, UInt16(clamping: open.label.utf8.count),
                UInt16(clamping: open.subprotocol.utf8.count))
            buffer.writeString(open.label)
            buffer.writeString(open.subprotocol)
        }
        return buffer
    }
}
