public import IoTCore
import NIOCore
import RTP

// ICE restarts (RFC 8445 §9, RFC 8839 §4.4.1.1.1): the way is sought anew while media go on over the old one. Nothing
// but ICE's credentials and candidates changes.
extension PeerConnection {
    /// An offer with new ICE credentials, for a peer whose way has changed or is lost; the answer goes to `setAnswer`.
    ///
    /// - Throws: `stateMismatch` before the first descriptions are exchanged, after the end, and while another
    ///   restart waits for its answer.
    public func createRestartOffer() throws(IoTError) -> SessionDescription {
        guard let local = localDescription, let remote = remoteDescription, !state.isEnd, restartOffer == nil else {
            throw IoTError(.stateMismatch, "there is no connection whose ICE could be restarted now")
        }
        ice.restart()
        flushICE()
        var offer = local
        offer.sessionVersion += 1
        // What the peer declined would be offered again, and there is no track for it.
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
            throw IoTError(.stateMismatch, "there is no restart that waits for an answer")
        }
        try requireSameSections(offer, answer)
        try requireSameCertificate(answer)
        guard answer.credentials != remoteDescription?.credentials else {
            throw IoTError(.sessionDescriptionInvalid, "the answer to a restart keeps the old ICE credentials")
        }
        restartOffer = nil
        localDescription = offer
        adopt(answer)
    }

    /// The answer to an offer with new ICE credentials.
    func createRestartAnswer(to offer: SessionDescription) throws(IoTError) -> SessionDescription {
        guard let local = localDescription, let remote = remoteDescription, !state.isEnd, restartOffer == nil,
            offer.credentials != remote.credentials
        else { throw IoTError(.stateMismatch, "a description was made already, and the offer restarts nothing") }
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

    /// Who was offered to answers with what fits the offer; the tracks stay as they are, and so do their streams
    /// (RFC 8829 §5.3.2): without `msid` and `ssrc-group` a browser would take them from their elements.
    ///
    /// A browser offers all that it has each time; no more of it is accepted than the tracks were made for.
    private static func answered(
        _ ours: SessionDescription.Entry, to theirs: SessionDescription.Entry
    ) throws(IoTError) -> SessionDescription.Entry {
        // What is offered with port 0 is answered with it (RFC 3264 §6).
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
            // No way is left in which media could go, but the section stays.
            answer.isRejected = false
            answer.direction = .inactive
            answer.codecs = offered.codecs
        }
        guard !answer.isRejected else {
            throw IoTError(.sessionDescriptionInvalid, "a restart of ICE must keep the codecs that were agreed on")
        }
        answer.retransmissionSSRC = answer.retransmissionSSRC == nil ? nil : section.retransmissionSSRC
        if answer.direction.sends { answer.mediaStreamID = section.mediaStreamID }
        return .media(answer)
    }

    private func adopt(_ remote: SessionDescription) {
        // What came before the description was of the old generation, or says by its `ufrag` that it is not.
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
            throw IoTError(.sessionDescriptionInvalid, "a restart of ICE must keep the sections as they are")
        }
    }

    private func requireSameCertificate(_ remote: SessionDescription) throws(IoTError) {
        guard remote.fingerprints == remoteDescription?.fingerprints else {
            throw IoTError(.sessionDescriptionInvalid, "a restart of ICE must keep the certificate")
        }
    }
}
