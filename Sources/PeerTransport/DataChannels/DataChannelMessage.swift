public import NIOCore

/// One message of a data channel, at most 64,000 bytes out and 256 KiB in.
public enum DataChannelMessage: Sendable, Equatable {
    /// As UTF-8 on the wire; what is not UTF-8 in a peer's message becomes U+FFFD.
    case text(String)
    case binary(ByteBuffer)

    public var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.readableBytes
        }
    }
}

/// What tells the kinds of message apart (RFC 8831 §8).
enum DataChannelPayload {
    static let control: UInt32 = 50
    static let text: UInt32 = 51
    static let binary: UInt32 = 53
    /// SCTP has no empty messages: one zero byte stands for none (§6.6).
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

    /// `nil` for a kind that is not known, or no longer used (52 and 54).
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
