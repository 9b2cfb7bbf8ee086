import IoTCore
import RTP

extension SessionDescription {
    /// The text form, with lines ended by CR LF.
    public var text: String {
        var lines = [
            "v=0",
            // The address is a placeholder, because the candidates carry the addresses (RFC 8829 §5.2.1).
            "o=- \(sessionID) \(sessionVersion) IN IP4 127.0.0.1",
            "s=-",
            "t=0 0",
        ]
        let bundled = entries.compactMap { entry -> String? in
            switch entry {
            case .media(let section): section.isRejected ? nil : section.mid
            case .data(let section): section.isRejected ? nil : section.mid
            case .unsupported: nil
            }
        }
        if !bundled.isEmpty { lines.append("a=group:BUNDLE " + bundled.joined(separator: " ")) }
        if isICELite { lines.append("a=ice-lite") }
        lines.append("a=ice-options:trickle")
        for fingerprint in fingerprints { lines.append("a=fingerprint:\(fingerprint.text)") }
        var hasTransport = false
        for entry in entries {
            switch entry {
            case .unsupported(let section):
                lines.append("m=\(section.medium) 0 \(section.transport) \(section.formats)")
                lines.append("c=IN IP4 0.0.0.0")
                lines.append("a=mid:\(section.mid)")
                lines += transportLines
            case .media(let section):
                lines += mediaLines(section, isFirst: !hasTransport)
                if !section.isRejected { hasTransport = true }
            case .data(let section):
                lines += dataLines(section, isFirst: !hasTransport)
                if !section.isRejected { hasTransport = true }
            }
        }
        return lines.joined(separator: "\r\n") + "\r\n"
    }

    private func mediaLines(_ section: MediaSection, isFirst: Bool) -> [String] {
        // A declined section needs a format, too.
        let formats = section.codecs.isEmpty ? ["0"] : section.codecs.map { String($0.payloadType) }
        let port = section.isRejected ? 0 : 9
        var lines = [
            "m=\(section.kind.rawValue) \(port) UDP/TLS/RTP/SAVPF \(formats.joined(separator: " "))",
            "c=IN IP4 0.0.0.0",
            "a=mid:\(section.mid)",
        ]
        lines += transportLines
        if section.isRejected {
            lines += ["a=inactive", "a=rtcp-mux"]
            for codec in section.codecs { lines += codecLines(codec) }
            return lines
        }
        lines.append("a=\(section.direction.rawValue)")
        lines.append("a=rtcp-mux")
        if section.allowsReducedSizeRTCP { lines.append("a=rtcp-rsize") }
        for mapping in section.headerExtensions { lines.append("a=extmap:\(mapping.identifier) \(mapping.uri)") }
        for codec in section.codecs {
            lines += codecLines(codec)
            // Feedback refers to the media; repair streams have none of their own.
            for feedback in MediaSection.Feedback.allCases
            where section.feedback.contains(feedback) && !codec.isRetransmission {
                lines.append("a=rtcp-fb:\(codec.payloadType) \(feedback.rawValue)")
            }
        }
        if let stream = section.mediaStreamID { lines.append("a=msid:\(stream)") }
        if section.direction.sends, let ssrc = section.ssrc {
            if let repairs = section.retransmissionSSRC {
                lines.append("a=ssrc-group:FID \(ssrc) \(repairs)")
            }
            lines.append("a=ssrc:\(ssrc) cname:\(section.cname)")
            if let repairs = section.retransmissionSSRC { lines.append("a=ssrc:\(repairs) cname:\(section.cname)") }
        }
        if isFirst { lines += candidateLines }
        return lines
    }

    private func dataLines(_ section: DataSection, isFirst: Bool) -> [String] {
        var lines = [
            "m=application \(section.isRejected ? 0 : 9) UDP/DTLS/SCTP webrtc-datachannel",
            "c=IN IP4 0.0.0.0",
            "a=mid:\(section.mid)",
        ]
        lines += transportLines
        guard !section.isRejected else { return lines }
        lines.append("a=sctp-port:\(section.sctpPort)")
        lines.append("a=max-message-size:\(section.maximumMessageSize)")
        if isFirst { lines += candidateLines }
        return lines
    }

    /// Also written in declined sections, where they have no meaning (RFC 8829 §5.3.1), because aiortc requires them.
    private var transportLines: [String] {
        [
            "a=ice-ufrag:\(credentials.ufrag)", "a=ice-pwd:\(credentials.password)", "a=setup:\(setup.rawValue)",
        ]
    }

    /// There is one transport, so only its first section has the candidates (RFC 8829 §5.2.1).
    private var candidateLines: [String] {
        candidates.map { "a=\($0.text)" } + (hasEndOfCandidates ? ["a=end-of-candidates"] : [])
    }

    private func codecLines(_ codec: RTPCodec) -> [String] {
        var lines = ["a=rtpmap:\(codec.payloadType) \(codec.rtpmap)"]
        if let parameters = codec.formatParametersText {
            lines.append("a=fmtp:\(codec.payloadType) \(parameters)")
        }
        return lines
    }
}
