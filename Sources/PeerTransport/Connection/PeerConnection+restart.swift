public import IoTCore
import NIOCore
import RTP

// ICE restarts (RFC 8445 §9, RFC 8839 §4.4.1.1.1): ICE searches for a new path while media continue on the old one.
// Only ICE's credentials and candidates change.
extension PeerConnection {
    /// Creates an offer with new ICE credentials, for when the path to the peer has changed or is lost. Pass the answer
    /// to `setAnswer`.
    ///
    /// - Throws: `stateMismatch` before the first descriptions are exchanged, after the end, and while another restart
    ///   waits for its answer.
    public func createRestartOffer() throws(IoTError) -> SessionDescription {
        guard let local = localDescription, let remote = remoteDescription, !state.isEnd, restartOffer == nil else {
            throw IoTError(.stateMismatch, "ICE cannot be restarted now")
        }
        ice.restart()
        flushICE()
        var offer = local
        offer.sessionVersion += 1
        // Sections that the peer declined must not be offered again, because they have no track.
        offer.entries = zip(local.entries, remote.entries).map { $1.isRejected ? $0.rejected : $0 }
        offer.setup = .either
        offer.credentials = ice.credentials
        describeCandidates(in: &offer)
        hasAllRemoteCandidates = false
        pendingCandidates = []
        restartOffer = offer
        return offer
    }

    func setRestartAnswer(_ answer: SessionDescription) throws(IoTError) {
        guard let offer = restartOffer, !state.isEnd else {
            throw IoTError(.stateMismatch, "no ICE restart is waiting for an answer")
        }
        try requireSameSections(offer, answer)
        try requireSameCertificate(answer)
        guard answer.credentials != remoteDescription?.credentials else {
            throw IoTError(.sessionDescriptionInvalid, "the answer to an ICE restart must have new ICE credentials")
        }
        restartOffer = nil
        localDescription = offer
        adopt(answer)
    }

    /// Creates the answer to an offer with new ICE credentials.
    func createRestartAnswer(to offer: SessionDescription) throws(IoTError) -> SessionDescription {
        guard let local = localDescription, let remote = remoteDescription, !state.isEnd, restartOffer == nil,
            offer.credentials != remote.credentials
        else { throw IoTError(.stateMismatch, "a description exists already, and the offer is not an ICE restart") }
        try requireSameSections(local, offer)
        try requireSameCertificate(offer)
        var answer = local
        answer.sessionVersion += 1
        answer.entries = []
        for (ours, theirs) in zip(local.entries, offer.entries) {
            answer.entries.append(try Self.answered(ours, to: theirs))
        }
        ice.restart()
        flushICE()
        answer.setup = dtls?.role == .client ? .active : .passive
        answer.credentials = ice.credentials
        describeCandidates(in: &answer)
        hasAllRemoteCandidates = false
        localDescription = answer
        adopt(offer)
        return answer
    }

    /// Each section's answer fits the offer; the tracks and their streams stay as they are (RFC 8829 §5.3.2). Without
    /// `msid` and `ssrc-group` a browser would remove the streams from their elements.
    ///
    /// A browser offers everything it supports each time; the answer accepts only what the tracks were made for.
    private static func answered(
        _ ours: SessionDescription.Entry, to theirs: SessionDescription.Entry
    ) throws(IoTError) -> SessionDescription.Entry {
        // A section offered with port 0 is answered with port 0 (RFC 3264 §6).
        guard !ours.isRejected, !theirs.isRejected else { return ours.rejected }
        guard case .media(let section) = ours, case .media(var offered) = theirs else { return ours }
        offered.codecs.removeAll { codec in
            !section.codecs.contains {
                $0.payloadType == codec.payloadType
                    && $0.encodingName.lowercased() == codec.encodingName.lowercased()
            }
        }
        offered.headerExtensions.removeAll { !section.headerExtensions.contains($0) }
        offered.feedback.formIntersection(section.feedback)
        let hasRepairs = section.codecs.contains(where: \.isRetransmission)
        var answer = Negotiation.answer(
            offered, local: section, ssrc: section.ssrc ?? 0,
            retransmissionSSRC: hasRepairs ? section.retransmissionSSRC ?? 0 : nil, cname: section.cname)
        if offered.codecs.contains(where: { !$0.isRetransmission }), answer.isRejected {
            // The section stays, although media can flow in neither direction.
            answer.isRejected = false
            answer.direction = .inactive
            answer.codecs = offered.codecs
        }
        guard !answer.isRejected else {
            throw IoTError(.sessionDescriptionInvalid, "an ICE restart must keep the agreed codecs")
        }
        answer.retransmissionSSRC = answer.retransmissionSSRC == nil ? nil : section.retransmissionSSRC
        if answer.direction.sends { answer.mediaStreamID = section.mediaStreamID }
        return .media(answer)
    }

    private func adopt(_ remote: SessionDescription) {
        // Earlier candidates belong to the old generation, unless their `ufrag` names the new one.
        pendingCandidates = pendingCandidates.filter { $0.ufrag == remote.credentials.ufrag }
        remoteDescription = remote
        pendingCandidates = Array(remote.candidates.prefix(Self.maximumPendingCandidates)) + pendingCandidates
        hasAllRemoteCandidates = remote.hasEndOfCandidates
        isStartPending = true
    }

    private func requireSameSections(_ local: SessionDescription, _ remote: SessionDescription) throws(IoTError) {
        guard local.entries.count == remote.entries.count, local.sections.count == remote.sections.count,
            zip(local.sections, remote.sections).allSatisfy({ $0.mid == $1.mid && $0.kind == $1.kind }),
            local.dataSection?.mid == remote.dataSection?.mid
        else {
            throw IoTError(.sessionDescriptionInvalid, "an ICE restart must keep the sections")
        }
    }

    private func requireSameCertificate(_ remote: SessionDescription) throws(IoTError) {
        guard remote.fingerprints == remoteDescription?.fingerprints else {
            throw IoTError(.sessionDescriptionInvalid, "an ICE restart must keep the certificate")
        }
    }
}
