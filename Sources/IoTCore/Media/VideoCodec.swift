/// A video codec that the product supports.
public enum VideoCodec: String, Sendable, Codable, CaseIterable {
    case h264
    case h265

    /// The RTP encoding name (RFC 6184 §8.1, RFC 7798 §7.1).
    public var rtpName: String {
        switch self {
        case .h264: "H264"
        case .h265: "H265"
        }
    }
}
