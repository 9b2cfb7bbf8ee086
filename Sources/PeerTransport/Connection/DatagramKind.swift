import NIOCore
import RTP

/// The protocols that share one UDP port, distinguished by the first byte (RFC 7983 §7).
enum DatagramKind {
    case stun
    case dtls
    case rtp
    case rtcp

    /// `nil` for anything else: ZRTP, TURN channels, noise.
    init?(_ datagram: ByteBuffer) {
        guard let first = datagram.getInteger(at: datagram.readerIndex, as: UInt8.self) else { return nil }
        switch first {
        case 0...3: self = .stun
        case 20...63: self = .dtls
        case 128...191: self = RTCPPacket.isRTCP(datagram) ? .rtcp : .rtp
        default: return nil
        }
    }
}
