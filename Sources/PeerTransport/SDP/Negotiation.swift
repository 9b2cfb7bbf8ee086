import IoTCore
import RTP

/// Offer and answer as pure functions.
enum Negotiation {
    /// Answers one offered section.
    ///
    /// - Parameters:
    ///   - local: what we can send in it, and whether we receive; the codecs of a section that only receives are those
    ///     that it accepts. `nil` to receive any codec.
    ///   - ssrc: our SSRC, if we send.
    ///   - retransmissionSSRC: the SSRC of our repairs, if we send and the peer supports them; `nil` for none.
    /// - Returns: the answer's section, which is rejected when no codec matches.
    static func answer(
        _ offered: MediaSection, local: MediaSection?, ssrc: UInt32, retransmissionSSRC: UInt32? = nil, cname: String
    ) -> MediaSection {
        let sending = offered.direction.receives && local?.direction.sends == true
        let receiving = offered.direction.sends && local?.direction.receives != false
        var codecs: [RTPCodec] = []
        var sends = false
        if sending, let (theirs, ours) = firstMatch(ours: local?.codecs ?? [], theirs: offered.codecs) {
            codecs.append(answered(ours, as: theirs))
            sends = true
        }
        var receives = false
        if receiving {
            let accepted = local.flatMap { $0.direction == .receiveOnly ? Set($0.codecs.map(\.format)) : nil }
            for codec in offered.codecs
            where codec.format?.kind == offered.kind && codec.format != .mpegAudio
                && accepted?.contains(codec.format) != false
            {
                receives = true
                if codecs.contains(where: { $0.payloadType == codec.payloadType }) { continue }
                codecs.append(receivable(codec))
            }
        }
        let ours = MediaSection(mid: "", kind: offered.kind, direction: .inactive, codecs: [])
        var section = MediaSection(
            mid: offered.mid, kind: offered.kind,
            direction: MediaSection.Direction(sends: sends, receives: receives), codecs: codecs,
            ssrc: sends ? ssrc : nil, cname: cname,
            feedback: offered.feedback.intersection(local?.feedback ?? ours.feedback),
            allowsReducedSizeRTCP: offered.allowsReducedSizeRTCP)
        section.headerExtensions = offered.headerExtensions.filter { $0.known != nil }
        if let retransmissionSSRC, offered.feedback.contains(.nack) {
            let repairs = codecs.compactMap { offered.codecs.retransmission(of: $0.payloadType) }
            section.codecs += repairs
            if sends, codecs.first.map({ repairs.retransmission(of: $0.payloadType) != nil }) == true {
                section.retransmissionSSRC = retransmissionSSRC
            }
        }
        if codecs.isEmpty {
            section.isRejected = true
            section.codecs = Array(offered.codecs.prefix(1))
        }
        return section
    }

    /// The agreement on a section once both descriptions exist; `nil` for a rejected section.
    static func agree(local: MediaSection, remote: MediaSection, localSSRC: UInt32) -> NegotiatedSection? {
        guard !local.isRejected, !remote.isRejected else { return nil }
        let sends = local.direction.sends && remote.direction.receives
        let receives = local.direction.receives && remote.direction.sends
        var section = NegotiatedSection(
            mid: local.mid, kind: local.kind, direction: .inactive, receivingCodecs: [], localSSRC: localSSRC,
            remoteSSRC: remote.ssrc, remoteRetransmissionSSRC: remote.retransmissionSSRC,
            feedback: local.feedback.intersection(remote.feedback),
            allowsReducedSizeRTCP: local.allowsReducedSizeRTCP && remote.allowsReducedSizeRTCP)
        if sends, let (theirs, ours) = firstMatch(ours: local.codecs, theirs: remote.codecs) {
            section.sendingCodec = ours
            section.sendingCodec?.payloadType = theirs.payloadType
            if let repairs = remote.codecs.retransmission(of: theirs.payloadType),
                local.codecs.contains(where: \.isRetransmission), section.feedback.contains(.nack)
            {
                section.sendingRetransmissionType = repairs.payloadType
                section.localRetransmissionSSRC = local.retransmissionSSRC
            }
        }
        if receives {
            // The peer's parameters describe what it sends, and it sends with our payload types.
            for theirs in remote.codecs where theirs.format?.kind == local.kind {
                guard let ours = counterpart(of: theirs, in: local.codecs),
                    !section.receivingCodecs.contains(where: { $0.payloadType == ours.payloadType })
                else { continue }
                var codec = theirs
                codec.payloadType = ours.payloadType
                section.receivingCodecs.append(codec)
                if let repairs = local.codecs.retransmission(of: ours.payloadType),
                    remote.codecs.contains(where: \.isRetransmission)
                {
                    section.receivingRetransmissionTypes[repairs.payloadType] = ours.payloadType
                }
            }
        }
        section.direction = MediaSection.Direction(
            sends: section.sendingCodec != nil, receives: !section.receivingCodecs.isEmpty)
        let remoteURIs = Set(remote.headerExtensions.map(\.uri))
        // An answer keeps the offer's ids (RFC 8285 §6).
        section.headerExtensions = HeaderExtensionIdentifiers(
            local.headerExtensions.filter { remoteURIs.contains($0.uri) })
        return section
    }

    /// Our first codec that the peer supports, with the peer's entry for it.
    private static func firstMatch(ours: [RTPCodec], theirs: [RTPCodec]) -> (theirs: RTPCodec, ours: RTPCodec)? {
        for codec in ours {
            let fitting = theirs.filter { canSend(codec, to: $0) }
            if let match = fitting.min(by: { mismatch(codec, $0) < mismatch(codec, $1) }) { return (match, codec) }
        }
        return nil
    }

    private static func canSend(_ ours: RTPCodec, to theirs: RTPCodec) -> Bool {
        guard let format = ours.format, format == theirs.format, ours.clockRate == theirs.clockRate,
            ours.channels == theirs.channels
        else { return false }
        // RFC 6184 §8.2.2 requires equal modes. A stream of single NAL units is also valid in mode 1, but fragmentation
        // units, which we send in mode 1, are not valid in mode 0.
        return format != .h264 || theirs.packetizationMode == "1" || ours.packetizationMode == "0"
    }

    /// How far an entry of the peer is from what we send: 0 for the same profile, then decoders of a wider profile,
    /// then the others. RFC 6184 excludes the others, but most decoders support more than their description says.
    private static func mismatch(_ ours: RTPCodec, _ theirs: RTPCodec) -> Int {
        var distance = 0
        switch ours.format {
        case .h264:
            let decoders = ours.h264Profile?.decoders ?? []
            let rank = theirs.h264Profile.flatMap { decoders.firstIndex(of: $0) }
            distance = (rank ?? 100) * 4
            if ours.packetizationMode != theirs.packetizationMode { distance += 2 }
        case .h265:
            let profiles = (ours.formatParameters["profile-id"] ?? "1", theirs.formatParameters["profile-id"] ?? "1")
            if profiles.0 != profiles.1 { distance = 4 }
        default: break
        }
        return distance + (ours.payloadType == theirs.payloadType ? 0 : 1)
    }

    /// Our entry for the same codec as one of the peer's.
    private static func counterpart(of theirs: RTPCodec, in ours: [RTPCodec]) -> RTPCodec? {
        let same = ours.filter { $0.format == theirs.format && $0.clockRate == theirs.clockRate }
        return same.min { mismatch(theirs, $0) < mismatch(theirs, $1) }
    }

    /// Our codec as it appears in an answer: with the offerer's payload type and profile (RFC 3264 §6.1).
    private static func answered(_ ours: RTPCodec, as theirs: RTPCodec) -> RTPCodec {
        var codec = ours
        codec.payloadType = theirs.payloadType
        guard ours.format == .h264 else { return codec }
        codec.formatParameters["packetization-mode"] = theirs.formatParameters["packetization-mode"]
        guard let offered = theirs.formatParameters["profile-level-id"], offered.utf8.count == 6 else { return codec }
        // RFC 6184 §8.2.2: profile and constraints are the offer's. The level is the stream's own where the offerer
        // allows asymmetry.
        let level = ours.formatParameters["profile-level-id"]?.suffix(2)
        let isLevelOurs = theirs.formatParameters["level-asymmetry-allowed"] == "1"
        codec.formatParameters["profile-level-id"] =
            isLevelOurs ? String(offered.prefix(4) + (level ?? offered.suffix(2))) : offered
        codec.formatParameters["level-asymmetry-allowed"] = theirs.formatParameters["level-asymmetry-allowed"]
        return codec
    }

    /// An offered codec as it appears in a receiver's answer: without `sprop-…`, which describes a sender's stream.
    private static func receivable(_ codec: RTPCodec) -> RTPCodec {
        var codec = codec
        codec.formatParameters = codec.formatParameters.filter { !$0.key.hasPrefix("sprop-") }
        return codec
    }
}
