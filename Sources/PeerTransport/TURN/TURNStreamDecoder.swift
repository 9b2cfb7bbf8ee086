import NIOCore

/// Splits a TCP or TLS stream from a TURN server into messages (RFC 8656 §3.8, §12.5) by their length fields.
///
/// The buffer is bounded: a message over the limit, which only an oversized datagram from a peer can cause, is skipped
/// as it arrives.
struct TURNStreamDecoder: Sendable {
    static let maximumMessage = 2048
    private static let headerByteCount = 4

    private var buffer = ByteBuffer()
    private var skipping = 0

    /// Returns false when the stream contains neither STUN nor ChannelData, after which it cannot be parsed.
    mutating func receive(_ bytes: ByteBuffer, _ take: (ByteBuffer) -> Void) -> Bool {
        buffer.writeImmutableBuffer(bytes)
        defer { buffer.discardReadBytes() }
        while true {
            if skipping > 0 {
                let count = min(skipping, buffer.readableBytes)
                buffer.moveReaderIndex(forwardBy: count)
                skipping -= count
                if skipping > 0 { return true }
            }
            guard let first = buffer.getInteger(at: buffer.readerIndex, as: UInt8.self),
                let length = buffer.getInteger(at: buffer.readerIndex + 2, as: UInt16.self)
            else { return true }
            let size: Int
            let padded: Int
            switch first {
            case 0x00...0x3F:
                guard length & 3 == 0 else { return false }
                size = STUNMessage.headerByteCount + Int(length)
                padded = size
            case 0x40...0x7F:
                // On streams it is padded to four bytes, which the length excludes.
                size = Self.headerByteCount + Int(length)
                padded = (size + 3) & ~3
            default:
                return false
            }
            guard size <= Self.maximumMessage else {
                skipping = padded
                continue
            }
            guard buffer.readableBytes >= padded, let message = buffer.readSlice(length: size) else { return true }
            buffer.moveReaderIndex(forwardBy: padded - size)
            take(message)
        }
    }
}
