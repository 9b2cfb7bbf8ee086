/// A protection profile of DTLS-SRTP (RFC 5764 §4.1.2, RFC 7714 §14.2), most preferred first.
public enum SRTPProfile: UInt16, Sendable, Hashable, CaseIterable {
    case aeadAES128GCM = 0x0007
    case aeadAES256GCM = 0x0008
    case aes128CMHMACSHA1_80 = 0x0001

    /// The profile's name in OpenSSL's `use_srtp` lists.
    public var openSSLName: String {
        switch self {
        case .aeadAES128GCM: "SRTP_AEAD_AES_128_GCM"
        case .aeadAES256GCM: "SRTP_AEAD_AES_256_GCM"
        case .aes128CMHMACSHA1_80: "SRTP_AES128_CM_SHA1_80"
        }
    }

    /// Bytes of one master key.
    public var masterKeyLength: Int {
        switch self {
        case .aeadAES128GCM, .aes128CMHMACSHA1_80: 16
        case .aeadAES256GCM: 32
        }
    }

    /// Bytes of one master salt.
    public var masterSaltLength: Int {
        switch self {
        case .aeadAES128GCM, .aeadAES256GCM: 12
        case .aes128CMHMACSHA1_80: 14
        }
    }

    /// Bytes from the exporter `EXTRACTOR-dtls_srtp` (RFC 5764 §4.2): two keys, then two salts.
    public var keyingMaterialLength: Int { 2 * (masterKeyLength + masterSaltLength) }

    /// The bytes that protection adds to an RTP packet.
    public var rtpOverhead: Int {
        switch self {
        case .aeadAES128GCM, .aeadAES256GCM: 16
        case .aes128CMHMACSHA1_80: 10
        }
    }

    /// The bytes that protection adds to an RTCP packet: the tag and the index.
    public var rtcpOverhead: Int { rtpOverhead + 4 }
}
