public import NIOCore

/// One message of a data channel, at most 64,000 bytes when sent and 256 KiB when received.
public enum DataChannelMessage: Sendable, Equatable {
    /// UTF-8 on the wire; invalid UTF-8 in a peer's message becomes U+FFFD.
    case text(String)
    case binary(ByteBuffer)

    public var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.readableBytes
        }
    }
}

/// The payload protocol identifiers of the kinds of message (RFC 8831 §8).
enum DataChannelPayload {
    static let control: UInt32 = 50
    static let text: UInt32 = 51
    static let binary: UInt32 = 53
    /// SCTP has no empty messages: one zero byte represents an empty one (§6.6).
    static let emptyText: UInt32 = 56
    static let emptyBinary: UInt32 = 57

    static func encode(_ message: DataChannelMessage) -> (payloadProtocol: UInt32, bytes: ByteBuffer) {
        switch message {
        case .text(let text):
            text.isEmpty ? (emptyText, ByteBuffer(bytes: [0])) : (Self.text, ByteBuffer(string: text))
        case .binary(let bytes):
            bytes.readableBytes == 0 ? (emptyBinary, ByteBuffer(bytes: [0])) : (binary, bytes)
        }
    }

    /// `nil` for an unknown or deprecated kind (52 and 54).
    static func decode(_ payloadProtocol: UInt32, _ bytes: ByteBuffer) -> DataChannelMessage? {
        switch payloadProtocol {
        case text: .text(String(buffer: bytes))
        case binary: .binary(bytes)
        case emptyText: .text("")
        case emptyBinary: .binary(ByteBuffer())
        default: nil
        }
    }
}
