import IoTCore

/// What offer and answer agree on for one section, as we see it (RFC 3264, RFC 8829 §5.3).
struct NegotiatedSection: Sendable {
    var mid: String
    var kind: MediaKind
    var direction: MediaSection.Direction

    /// What we send; `nil` when we do not.
    var sendingCodec: RTPCodec?

    /// What may come; empty when nothing does.
    var receivingCodecs: [RTPCodec]

    var localSSRC: UInt32
    var remoteSSRC: UInt32?
    var feedback: Set<MediaSection.Feedback>
    var allowsReducedSizeRTCP: Bool
}

/// Offer and answer as functions of values.
enum Negotiation {
    /// Answers one offered section.
    ///
    /// - Parameters:
    ///   - local: what we could send in it, and whether we would receive; `nil` to receive only.
    ///   - ssrc: ours, if we send.
    /// - Returns: the answer's section, which is rejected when nothing fits.
    static func answer(
        _ offered: MediaSection, local: MediaSection?, ssrc: UInt32, cname: String
    ) -> MediaSection {
        let sending = offered.direction.receives && local?.direction.sends == true
        let receiving = offered.direction.sends && local?.direction.receives != false
        var codecs: [RTPCodec] = []
        var sends = false
        if sending, let (theirs, ours) = firstMatch(ours: local?.codecs ?? [], theirs: offered.codecs) {
            var codec = ours
            // The offerer's number for it (RFC 3264 §6.1); the parameters describe what we send.
            codec.payloadType = theirs.payloadType
            codecs.append(codec)
            sends = true
        }
        var receives = false
        if receiving {
            for codec in offered.codecs where codec.format?.kind == offered.kind {
                receives = true
                if codecs.contains(where: { $0.payloadType == codec.payloadType }) { continue }
                codecs.append(receivable(codec))
            }
        }
        var section = MediaSection(
            mid: offered.mid, kind: offered.kind,
            direction: MediaSection.Direction(sends: sends, receives: receives), codecs: codecs,
            ssrc: sends ? ssrc : nil, cname: cname,
            feedback: offered.feedback.intersection(
                MediaSection(mid: "", kind: offered.kind, direction: .inactive, codecs: []).feedback),
            allowsReducedSizeRTCP: offered.allowsReducedSizeRTCP)
        if codecs.isEmpty {
            section.isRejected = true
            section.codecs = Array(offered.codecs.prefix(1))
        }
        return section
    }

    /// What holds for a section once both descriptions are there; `nil` for a rejected one.
    static func agree(local: MediaSection, remote: MediaSection, localSSRC: UInt32) -> NegotiatedSection? {
        guard !local.isRejected, !remote.isRejected else { return nil }
        let sends = local.direction.sends && remote.direction.receives
        let receives = local.direction.receives && remote.direction.sends
        var sendingCodec: RTPCodec?
        if sends, let (theirs, ours) = firstMatch(ours: local.codecs, theirs: remote.codecs) {
            sendingCodec = ours
            sendingCodec?.payloadType = theirs.payloadType
        }
        // Their parameters, as they describe what they send, for the codecs that both named.
        let receivingCodecs =
            receives
            ? remote.codecs.filter { theirs in
                theirs.format?.kind == local.kind
                    && local.codecs.contains { $0.format == theirs.format && $0.clockRate == theirs.clockRate }
            } : []
        return NegotiatedSection(
            mid: local.mid, kind: local.kind,
            direction: MediaSection.Direction(sends: sendingCodec != nil, receives: !receivingCodecs.isEmpty),
            sendingCodec: sendingCodec, receivingCodecs: receivingCodecs, localSSRC: localSSRC,
            remoteSSRC: remote.ssrc, feedback: local.feedback.intersection(remote.feedback),
            allowsReducedSizeRTCP: local.allowsReducedSizeRTCP && remote.allowsReducedSizeRTCP)
    }

    /// Our first codec that the peer takes, with the peer's entry for it.
    private static func firstMatch(ours: [RTPCodec], theirs: [RTPCodec]) -> (theirs: RTPCodec, ours: RTPCodec)? {
        for codec in ours {
            let fitting = theirs.filter { canSend(codec, to: $0) }
            // The same profile if there is one; decoders take others in practice, so the first will do.
            if let match = fitting.first(where: { profile($0) == profile(codec) }) ?? fitting.first {
                return (match, codec)
            }
        }
        return nil
    }

    private static func canSend(_ ours: RTPCodec, to theirs: RTPCodec) -> Bool {
        guard let format = ours.format, format == theirs.format, ours.clockRate == theirs.clockRate,
            ours.channels == theirs.channels
        else { return false }
        // We send fragmentation units, which mode 0 lacks (RFC 6184 §6.2).
        return format != .h264 || theirs.formatParameters["packetization-mode"] == "1"
    }

    /// H.264's profile_idc, H.265's profile-id (1 by default).
    private static func profile(_ codec: RTPCodec) -> String? {
        switch codec.format {
        case .h264: codec.formatParameters["profile-level-id"].map { $0.prefix(2).lowercased() }
        case .h265: codec.formatParameters["profile-id"] ?? "1"
        default: nil
        }
    }

    /// An offered codec as the answer of one who only receives names it: `sprop-…` describes a sender's stream.
    private static func receivable(_ codec: RTPCodec) -> RTPCodec {
        var codec = codec
        codec.formatParameters = codec.formatParameters.filter { !$0.key.hasPrefix("sprop-") }
        return codec
    }
}
