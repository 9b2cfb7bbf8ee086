public import IoTCore

/// One payload type of a media section: the content of `a=rtpmap` and `a=fmtp` (RFC 8866 §6.6, §6.15).
public struct RTPCodec: Sendable, Hashable {
    /// 0–127.
    public var payloadType: UInt8

    /// `H264`, `H265`, `mpeg4-generic`, `PCMU`, `PCMA`, `opus`, `MPA`, or any other name from the peer.
    public var encodingName: String

    /// RTP ticks per second.
    public var clockRate: Int

    /// 1 for video.
    public var channels: Int

    /// The parameters of `a=fmtp` by lower-case name. A parameter without `=` has an empty value.
    public var formatParameters: [String: String]

    public init(
        payloadType: UInt8, encodingName: String, clockRate: Int, channels: Int = 1,
        formatParameters: [String: String] = [:]
    ) {
        self.payloadType = payloadType
        self.encodingName = encodingName
        self.clockRate = clockRate
        self.channels = channels
        self.formatParameters = formatParameters
    }

    /// The payload formats that this module depacketizes. It packetizes all of them except MPEG audio.
    public enum Format: Sendable, Hashable, CaseIterable {
        case h264, h265, aac, pcmu, pcma, opus

        /// MPEG audio, such as MP3 (RFC 2250). Only cameras send it, over RTSP.
        case mpegAudio

        public var kind: MediaKind {
            switch self {
            case .h264, .h265: .video
            case .aac, .pcmu, .pcma, .opus, .mpegAudio: .audio
            }
        }
    }

    /// The codec's format; `nil` if it is not supported, such as H.264 in interleaved mode, H.265 with decoding order
    /// numbers, or AAC in a mode other than AAC-hbr.
    public var format: Format? {
        guard clockRate > 0 else { return nil }
        switch encodingName.lowercased() {
        case "h264":
            let mode = formatParameters["packetization-mode"] ?? "0"
            return clockRate == 90_000 && (mode == "0" || mode == "1") ? .h264 : nil
        case "h265":
            let reordering = formatParameters["sprop-max-don-diff"] ?? "0"
            return clockRate == 90_000 && reordering == "0" ? .h265 : nil
        case "mpeg4-generic":
            return isHighBitRateAAC ? .aac : nil
        case "pcmu": return clockRate == 8_000 ? .pcmu : nil
        case "pcma": return clockRate == 8_000 ? .pcma : nil
        case "opus": return clockRate == 48_000 ? .opus : nil
        case "mpa": return clockRate == 90_000 ? .mpegAudio : nil
        default: return nil
        }
    }

    /// RFC 3640 §3.3.6: the mode fixes the widths of the AU header's fields.
    private var isHighBitRateAAC: Bool {
        func has(_ name: String, _ value: String, orAbsent: Bool = false) -> Bool {
            guard let text = formatParameters[name] else { return orAbsent }
            return text.lowercased() == value
        }
        return has("mode", "aac-hbr") && has("sizelength", "13") && has("indexlength", "3")
            && has("indexdeltalength", "3") && has("ctsdeltalength", "0", orAbsent: true)
            && has("dtsdeltalength", "0", orAbsent: true) && has("randomaccessindication", "0", orAbsent: true)
            && has("streamstateindication", "0", orAbsent: true)
            && has("auxiliarydatasizelength", "0", orAbsent: true)
    }
}
