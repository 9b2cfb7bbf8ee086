/// Encrypts and authenticates one direction's packets of one kind (RTP or RTCP) in place.
///
/// A packet lies at `bytes`: `header` bytes in clear, the rest to be encrypted, `count` in all before sealing and
/// after opening. RTP ends with the tag. RTCP ends with its index, before (RFC 3711 §3.4) or behind (RFC 7714 §9.3)
/// which the tag stands.
protocol SRTPTransform: AnyObject {
    /// The packet has room for the profile's overhead behind it; false only when OpenSSL fails.
    func seal(_ bytes: UnsafeMutableRawPointer, header: Int, count: Int, ssrc: UInt32, index: UInt64) -> Bool

    /// `count` is without the overhead. False for a packet whose tag does not fit, whose bytes are then no longer of
    /// use.
    func open(_ bytes: UnsafeMutableRawPointer, header: Int, count: Int, ssrc: UInt32, index: UInt64) -> Bool
}

/// Which of the two protocols a transform protects.
enum SRTPTransformKind {
    case rtp
    case rtcp
}

/// SRTCP's index word: the flag E, that the packet is encrypted, and 31 bits of index (RFC 3711 §3.4).
enum SRTCPIndex {
    static let encryptedFlag: UInt32 = 0x8000_0000
    static let maximum: UInt32 = 0x7FFF_FFFF
}
