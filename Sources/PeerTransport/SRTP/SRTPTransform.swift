/// Encrypts and authenticates the packets of one direction and one protocol (RTP or RTCP) in place.
///
/// A packet starts at `bytes`. Its first `header` bytes stay in clear, the rest is encrypted. Its length is `count`
/// before sealing and after opening. RTP ends with the tag. RTCP ends with the tag and its index; the index is before
/// (RFC 3711 §3.4) or after (RFC 7714 §9.3) the tag.
protocol SRTPTransform: AnyObject {
    /// The packet must have room for the profile's overhead after it. Returns false only when OpenSSL fails.
    func seal(_ bytes: UnsafeMutableRawPointer, header: Int, count: Int, ssrc: UInt32, index: UInt64) -> Bool

    /// `count` excludes the overhead. Returns false for a packet with a wrong tag; its bytes are then undefined.
    func open(_ bytes: UnsafeMutableRawPointer, header: Int, count: Int, ssrc: UInt32, index: UInt64) -> Bool
}

/// The protocol that a transform protects.
enum SRTPTransformKind {
    case rtp
    case rtcp
}

/// SRTCP's index word: the E flag, which marks the packet as encrypted, and a 31-bit index (RFC 3711 §3.4).
enum SRTCPIndex {
    static let encryptedFlag: UInt32 = 0x8000_0000
    static let maximum: UInt32 = 0x7FFF_FFFF
}
