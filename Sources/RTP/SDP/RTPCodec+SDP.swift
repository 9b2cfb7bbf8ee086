extension RTPCodec {
    /// The text after the payload type in `a=rtpmap`: `H264/90000`, `mpeg4-generic/48000/2`.
    public var rtpmap: String {
        let base = "\(encodingName)/\(clockRate)"
        // RFC 8866 §6.6: the channel count is for audio and may be omitted for one channel.
        return channels > 1 ? base + "/\(channels)" : base
    }

    /// The text after the payload type in `a=fmtp`; `nil` without parameters.
    public var formatParametersText: String? {
        guard !formatParameters.isEmpty else { return nil }
        let known = Self.parameterOrder.filter { formatParameters[$0.lowercased()] != nil }
        let knownNames = Set(known.map { $0.lowercased() })
        let others = formatParameters.keys.filter { !knownNames.contains($0) }.sorted()
        return (known + others).map { name in
            let value = formatParameters[name.lowercased()] ?? ""
            return value.isEmpty ? name : "\(name)=\(value)"
        }.joined(separator: ";")
    }

    /// Parses the text after the payload type of both attributes.
    ///
    /// - Parameters:
    ///   - rtpmap: `nil` for a static payload type; only 0 and 8 (RFC 3551 §6) are supported.
    ///   - fmtp: `nil` if the section has none for this type.
    /// - Returns: `nil` if the encoding or its clock rate is malformed. Unsupported codecs are parsed too.
    public init?(payloadType: UInt8, rtpmap: String?, fmtp: String?) {
        switch (rtpmap, payloadType) {
        case (let rtpmap?, _):
            let parts = rtpmap.split(separator: "/", omittingEmptySubsequences: false)
            // RFC 6838 §4.2: a subtype's name has 127 characters at most.
            guard parts.count >= 2, (1...127).contains(parts[0].utf8.count), let rate = Int(parts[1]),
                (1...1_000_000).contains(rate)
            else { return nil }
            let channels = parts.count > 2 ? Int(parts[2]) ?? 1 : 1
            self.init(
                payloadType: payloadType, encodingName: String(parts[0]), clockRate: rate,
                channels: min(max(channels, 1), 255))
        case (nil, 0): self.init(payloadType: 0, encodingName: "PCMU", clockRate: 8_000)
        case (nil, 8): self.init(payloadType: 8, encodingName: "PCMA", clockRate: 8_000)
        default: return nil
        }
        formatParameters = fmtp.map(Self.parseFormatParameters) ?? [:]
    }

    /// Parses `name=value` pairs separated by semicolons; spaces around them are ignored. The first of a repeated name
    /// wins.
    static func parseFormatParameters(_ text: String) -> [String: String] {
        var parameters: [String: String] = [:]
        for part in text.split(separator: ";") {
            // Only the first `=` separates, because Base64 values may end in `=`.
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = Self.trim(pair[0]).lowercased()
            guard !name.isEmpty, parameters[name] == nil else { continue }
            parameters[name] = pair.count > 1 ? Self.trim(pair[1]) : ""
        }
        return parameters
    }

    private static func trim(_ text: Substring) -> String {
        var text = text
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }

    /// The parameters in their RFCs' spelling, in the order in which they are written.
    private static let parameterOrder = [
        // RFC 6184 §8.1
        "level-asymmetry-allowed", "packetization-mode", "profile-level-id", "sprop-parameter-sets",
        // RFC 7798 §7.1
        "profile-space", "profile-id", "tier-flag", "level-id", "sprop-vps", "sprop-sps", "sprop-pps",
        // RFC 3640 §4.1
        "streamtype", "mode", "config", "sizelength", "indexlength", "indexdeltalength",
        // RFC 7587 §6.1
        "minptime", "useinbandfec", "stereo", "sprop-stereo",
    ]
}
