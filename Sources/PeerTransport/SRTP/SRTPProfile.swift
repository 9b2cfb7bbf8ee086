/// A protection profile of DTLS-SRTP (RFC 5764 §4.1.2, RFC 7714 §14.2).
public enum SRTPProfile: UInt16, Sendable, Hashable, CaseIterable {
    case aes128CMHMACSHA1_80 = 0x0001
    case aeadAES128GCM = 0x0007

    /// The profile's name in OpenSSL's `use_srtp` lists.
    public var openSSLName: String {
        switch self {
        case .aes128CMHMACSHA1_80: "SRTP_AES128_CM_SHA1_80"
        case .aeadAES128GCM: "SRTP_AEAD_AES_128_GCM"
        }
    }

    /// Bytes of one master key.
    public var masterKeyLength: Int { 16 }

    /// Bytes of one master salt.
    public var masterSaltLength: Int {
        switch self {
        case .aes128CMHMACSHA1_80: 14
        case .aeadAES128GCM: 12
        }
    }

    /// Bytes to take from the exporter `EXTRACTOR-dtls_srtp` (RFC 5764 §4.2): two keys, then two salts.
    public var keyingMaterialLength: Int { 2 * (masterKeyLength + masterSaltLength) }

    /// By how many bytes protection lengthens an RTP packet.
    public var rtpOverhead: Int {
        switch self {
        case .aes128CMHMACSHA1_80: 10
        case .aeadAES128GCM: 16
        }
    }

    /// By how many bytes protection lengthens an RTCP packet: the tag and the index.
    public var rtcpOverhead: Int { rtpOverhead + 4 }
}
