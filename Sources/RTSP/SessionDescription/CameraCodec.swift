import IoTCore
import RTP

/// Corrects errors in cameras' descriptions of their codecs.
enum CameraCodec {
    /// The codecs of a section, in its order.
    ///
    /// - Parameter firstMap: The argument of the section's first `a=rtpmap`.
    static func codecs(of media: MediaDescription, medium: String, firstMap: Substring?) -> [RTPCodec] {
        var codecs = media.codecs
        if codecs.isEmpty { codecs = guesses(media, medium: medium, firstMap: firstMap) }
        return codecs.map { repaired($0, medium: medium) }
    }

    /// Quirk 7: some cameras write a map for a payload type that the `m=` line does not list, such as
    /// `m=video 0 RTP/AVP smart/1/90000` (bluenviron/gortsplib, `pkg/format/format.go`), or no map.
    private static func guesses(_ media: MediaDescription, medium: String, firstMap: Substring?) -> [RTPCodec] {
        if let firstMap, let type = firstMap.split(separator: " ").first.flatMap({ UInt8($0) }), type < 128 {
            let codec = RTPCodec(
                payloadType: type, rtpmap: media.map(of: type), fmtp: media.parameters(of: type))
            if let codec { return [codec] }
        }
        return media.formats.prefix(1).compactMap { format in
            guard let type = UInt8(format), type < 128 else { return nil }
            if let name = staticTypes[type] { return RTPCodec(payloadType: type, rtpmap: name, fmtp: nil) }
            guard type >= 96, medium == "video", let parameters = media.parameters(of: type) else { return nil }
            let guess = RTPCodec(payloadType: type, rtpmap: "H264/90000", fmtp: parameters)
            guard let names = guess?.formatParameters.keys else { return nil }
            if names.contains("sprop-parameter-sets") { return guess }
            return names.contains("sprop-vps")
                ? RTPCodec(payloadType: type, rtpmap: "H265/90000", fmtp: parameters) : nil
        }
    }

    /// The static payload types (RFC 3551 §6) that `RTPCodec` does not know without a map. All but MPA are unsupported, and
    /// their names are for messages.
    private static let staticTypes: [UInt8: String] = [
        3: "GSM/8000", 4: "G723/8000", 9: "G722/8000", 10: "L16/44100/2", 11: "L16/44100", 14: "MPA/90000",
        26: "JPEG/90000", 32: "MPV/90000", 33: "MP2T/90000",
    ]

    private static func repaired(_ codec: RTPCodec, medium: String) -> RTPCodec {
        var codec = codec
        switch codec.encodingName.lowercased() {
        case "hevc": codec.encodingName = "H265"
        case "pcm_mulaw", "g711u": codec.encodingName = "PCMU"
        case "pcm_alaw", "g711a": codec.encodingName = "PCMA"
        default: break
        }
        switch codec.encodingName.lowercased() {
        case "h264", "h265":
            // Quirk 8: some cameras write another clock rate than 90 kHz (RFC 6184 §8.2.1, RFC 7798 §7.1).
            codec.clockRate = 90_000
            for name in ["sprop-parameter-sets", "sprop-vps", "sprop-sps", "sprop-pps"] {
                guard let text = codec.formatParameters[name] else { continue }
                codec.formatParameters[name] = withoutStartCodes(text)
            }
        case "mpeg4-generic": repairAAC(&codec)
        case "opus": codec.clockRate = 48_000
        default: break
        }
        return codec
    }

    /// Quirk 9: some cameras write parameter sets as an Annex B stream, with start codes (scottlamb/retina v0.4.11).
    private static func withoutStartCodes(_ text: String) -> String {
        text.split(separator: ",").map { encoded in
            guard let bytes = Base64.decode(encoded),
                bytes.starts(with: [0, 0, 0, 1]) || bytes.starts(with: [0, 0, 1])
            else { return String(encoded) }
            return annexBUnits(bytes).map { Base64.encode($0) }.joined(separator: ",")
        }.joined(separator: ",")
    }

    private static func annexBUnits(_ bytes: [UInt8]) -> [[UInt8]] {
        var units: [[UInt8]] = []
        var unit: [UInt8] = []
        var zeros = 0
        for byte in bytes {
            if byte == 1, zeros >= 2 {
                units.append(unit)
                (unit, zeros) = ([], 0)
            } else if byte == 0 {
                zeros += 1
            } else {
                unit += Array(repeating: 0, count: zeros) + [byte]
                zeros = 0
            }
        }
        return (units + [unit]).filter { !$0.isEmpty }
    }

    /// Quirk 10: some cameras omit parameters of RFC 3640. Cameras send only the mode AAC-hbr, whose widths are fixed
    /// (§3.3.6).
    private static func repairAAC(_ codec: inout RTPCodec) {
        let defaults = ["mode": "AAC-hbr", "sizelength": "13", "indexlength": "3", "indexdeltalength": "3"]
        guard codec.formatParameters["mode"]?.lowercased() ?? "aac-hbr" == "aac-hbr" else { return }
        for (name, value) in defaults where codec.formatParameters[name] ?? "" == "" {
            codec.formatParameters[name] = value
        }
        // Without a valid configuration, the audio is AAC-LC with the sample rate and channels of the map.
        if codec.formatParameters["config"].flatMap({ Hex.decode($0) }).flatMap({ AudioSpecificConfig($0) }) == nil,
            let config = AudioSpecificConfig.lowComplexity(sampleRate: codec.clockRate, channels: codec.channels)
        {
            codec.formatParameters["config"] = Hex.encode(config)
        }
    }
}
