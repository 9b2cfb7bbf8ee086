public import IoTCore
public import NIOCore
public import RTP

extension PeerConnection {
    /// Creates the offer for the peer, with `configuration.sections`.
    ///
    /// - Throws: `stateMismatch` when a description was already created, `sessionDescriptionInvalid` when there is
    ///   nothing to offer or a section has no codec.
    public func createOffer() throws(IoTError) -> SessionDescription {
        guard localDescription == nil else { throw IoTError(.stateMismatch, "a description was already created") }
        guard !configuration.sections.isEmpty || configuration.dataChannels != nil,
            configuration.sections.allSatisfy({ !$0.codecs.isEmpty })
        else {
            throw IoTError(.sessionDescriptionInvalid, "there is nothing to offer, or a media section has no codec")
        }
        // The whole bundle shares one space of payload types (RFC 9143 §9.1).
        var usedTypes = Set(configuration.sections.flatMap { $0.codecs.map(\.payloadType) })
        var entries = configuration.sections.enumerated().map { index, section in
            var section = section
            if section.mid.isEmpty { section.mid = "\(index)" }
            if section.cname.isEmpty { section.cname = canonicalName }
            if section.headerExtensions.isEmpty {
                section.headerExtensions = HeaderExtensionMapping.offered(for: section.kind)
            }
            addRetransmission(to: &section, usedTypes: &usedTypes)
            if section.direction.sends {
                if section.ssrc == nil { section.ssrc = makeSSRC() }
                if section.mediaStreamID == nil { section.mediaStreamID = Self.mediaStreamID(of: section) }
            }
            return SessionDescription.Entry.media(section)
        }
        if let section = dataSection(mid: Self.freeMid(beside: entries)) { entries.append(.data(section)) }
        let offer = makeDescription(entries, setup: .either)
        localDescription = offer
        return offer
    }

    /// Creates the answer to a peer's offer and starts connecting.
    ///
    /// - Parameter accepting: returns false to decline an offered section.
    /// - Throws: `stateMismatch` after the end, or when a description was already created and the offer is not an ICE
    ///   restart; `sessionDescriptionInvalid` when no section of the offer is accepted or fits.
    public func createAnswer(
        to offer: SessionDescription, accepting: (MediaSection) -> Bool = { _ in true }
    ) throws(IoTError) -> SessionDescription {
        if localDescription != nil { return try createRestartAnswer(to: offer) }
        guard !state.isEnd else { throw IoTError(.stateMismatch, "the connection has ended") }
        var unused = configuration.sections
        let offeredNames = Set(offer.sections.map(\.mid))
        let entries = offer.entries.map { entry -> SessionDescription.Entry in
            if case .data(let offered) = entry {
                return .data(dataAnswer(to: offered, isFirst: offered.mid == offer.dataSection?.mid))
            }
            guard case .media(let offered) = entry else { return entry }
            guard !offered.isRejected, accepting(offered) else { return .media(offered.rejected) }
            // A section that names another offered section waits for that one.
            let match =
                unused.firstIndex { $0.kind == offered.kind && $0.mid == offered.mid }
                ?? unused.firstIndex { $0.kind == offered.kind && !offeredNames.contains($0.mid) }
            let local = match.map { unused.remove(at: $0) }
            let cname = local.map(\.cname) ?? ""
            var section = Negotiation.answer(
                offered, local: local, ssrc: local?.ssrc ?? makeSSRC(),
                retransmissionSSRC: hasRetransmissionStreams ? local?.retransmissionSSRC ?? makeSSRC() : nil,
                cname: cname.isEmpty ? canonicalName : cname)
            if section.direction.sends {
                section.mediaStreamID = local?.mediaStreamID ?? Self.mediaStreamID(of: section)
            }
            return .media(section)
        }
        // The DTLS server's order of SRTP profiles decides, and AES-GCM is the cheaper one. So we are passive where we
        // may choose, although RFC 8842 §5.3 recommends active, which saves one round trip.
        let answer = makeDescription(entries, setup: offer.setup == .passive ? .active : .passive)
        guard answer.sections.contains(where: { !$0.isRejected }) || answer.dataSection?.isRejected == false else {
            throw IoTError(.sessionDescriptionInvalid, "no section of the offer can be used: no codec matches")
        }
        try connect(local: answer, remote: offer, role: offer.setup == .passive ? .client : .server)
        return answer
    }

    /// Takes the peer's answer to our offer and starts connecting.
    ///
    /// - Throws: `stateMismatch` when there is no offer or when it is already answered, `sessionDescriptionInvalid`
    ///   when the answer does not match the offer.
    public func setAnswer(_ answer: SessionDescription) throws(IoTError) {
        if restartOffer != nil { return try setRestartAnswer(answer) }
        guard let offer = localDescription, remoteDescription == nil, !state.isEnd else {
            throw IoTError(.stateMismatch, "no offer is waiting for an answer")
        }
        guard answer.entries.count == offer.entries.count, answer.sections.count == offer.sections.count,
            zip(answer.sections, offer.sections).allSatisfy({ $0.mid == $1.mid && $0.kind == $1.kind }),
            answer.dataSection?.mid == offer.dataSection?.mid
        else { throw IoTError(.sessionDescriptionInvalid, "the answer's sections do not match the offer's") }
        guard answer.setup != .either else {
            throw IoTError(.sessionDescriptionInvalid, "the answer does not choose a DTLS role")
        }
        try connect(local: offer, remote: answer, role: answer.setup == .active ? .server : .client)
    }

    /// Adds one of the peer's candidates, as `candidate:…`; empty text means that there are no more.
    ///
    /// Unusable candidates (TCP, and host names other than `.local` ones) are ignored, and so are those after the first
    /// 128 that come before the description.
    ///
    /// - Throws: `sessionDescriptionInvalid` when the text is malformed.
    public func addRemoteCandidate(_ text: String) throws(IoTError) {
        guard !text.isEmpty else {
            hasAllRemoteCandidates = true
            if remoteDescription != nil { isStartPending = true }
            return
        }
        guard let candidate = try ICECandidate(parsing: text) else { return }
        guard !state.isEnd, pendingCandidates.count < Self.maximumPendingCandidates else { return }
        pendingCandidates.append(candidate)
        if remoteDescription != nil { isStartPending = true }
    }

    /// Adds an address at which the peer may reach us. If the description already exists, a `.localCandidate` event
    /// signals the address to the peer.
    public func addHostAddress(_ address: SocketAddress) {
        guard !state.isEnd, let candidate = ice.addHostAddress(address), localDescription != nil else { return }
        outputs.append(.event(.localCandidate(candidate.text)))
    }

    /// Declares that there are no more addresses. An empty `.localCandidate` event signals this to the peer.
    public func endHostAddresses() {
        guard !state.isEnd, !configuration.hasAllHostAddresses, !hasEndedHostAddresses else { return }
        hasEndedHostAddresses = true
        endCandidatesIfComplete()
    }

    /// The index of a section's track; `nil` before both descriptions exist, and for a declined section.
    func track(mid: String) -> Int? {
        tracks.firstIndex { $0.section.mid == mid }
    }

    /// The codec that we send in a section; `nil` when we do not send in it.
    public func sendingCodec(mid: String) -> RTPCodec? {
        track(mid: mid).flatMap { tracks[$0].section.sendingCodec }
    }

    /// The codecs that a section may receive, with the peer's parameters.
    public func receivingCodecs(mid: String) -> [RTPCodec] {
        track(mid: mid).map { tracks[$0].section.receivingCodecs } ?? []
    }

    private func connect(
        local: SessionDescription, remote: SessionDescription, role: DTLSSession.Role
    ) throws(IoTError) {
        var tracks: [PeerTrack] = []
        for (ours, theirs) in zip(local.sections, remote.sections) {
            guard let section = Negotiation.agree(local: ours, remote: theirs, localSSRC: ours.ssrc ?? makeSSRC())
            else { continue }
            let cname = ours.cname.isEmpty ? canonicalName : ours.cname
            tracks.append(
                try PeerTrack(
                    section: section, cname: cname, isNACKEnabled: configuration.isNACKEnabled,
                    generator: &ice.generator))
        }
        guard
            tracks.contains(where: { $0.section.direction != .inactive })
                || Self.agreesOnData(local: local, remote: remote)
        else {
            throw IoTError(.sessionDescriptionInvalid, "the peers have no codec in common in any section")
        }
        dtls = try DTLSSession(certificate: certificate, role: role, remoteFingerprints: remote.fingerprints)
        for (index, track) in tracks.enumerated() where track.receiver != nil {
            if let ssrc = track.section.remoteSSRC { routes[ssrc] = index }
            if let ssrc = track.section.remoteRetransmissionSSRC { routes[ssrc] = index }
        }
        self.tracks = tracks
        prepareCongestionControl()
        localDescription = local
        remoteDescription = remote
        pendingCandidates =
            Array(remote.candidates.prefix(Self.maximumPendingCandidates)) + pendingCandidates
        hasAllRemoteCandidates = hasAllRemoteCandidates || remote.hasEndOfCandidates
        isStartPending = true
        // A peer that sends no checks must be controlled (RFC 8445 §6.1.1).
        if remote.isICELite, !configuration.ice.isLite { ice.isControlling = true }
        change(.connecting)
    }

    private func prepareCongestionControl() {
        for track in tracks {
            let own = track.section.headerExtensions
            extensions.mid = extensions.mid ?? own.mid
            extensions.absoluteSendTime = extensions.absoluteSendTime ?? own.absoluteSendTime
            extensions.transportSequenceNumber = extensions.transportSequenceNumber ?? own.transportSequenceNumber
            extensions.playoutDelay = extensions.playoutDelay ?? own.playoutDelay
            extensions.videoOrientation = extensions.videoOrientation ?? own.videoOrientation
        }
        if tracks.contains(where: { $0.receiver != nil && $0.hasTransportNumbers }) { arrivals = ArrivalRecorder() }
        let sending = tracks.filter { $0.sender != nil }
        guard configuration.congestion.isEnabled, !sending.isEmpty else { return }
        congestion = CongestionController(
            configuration.congestion, isPacing: sending.contains(where: \.hasRateFeedback),
            maximumQueue: configuration.maximumQueuedDatagrams, at: now)
    }

    /// The playout delay that a track's sender asks for (the extension `playout-delay`); `nil` if it has not asked.
    public func requestedPlayoutDelay(mid: String) -> PlayoutDelay? {
        track(mid: mid).flatMap { tracks[$0].playoutDelay }
    }

    /// Descriptions carry no time, so the checks start at the next call that does.
    func startIfPending() {
        // During a restart that we offered, the remote description is still the old one.
        guard isStartPending, restartOffer == nil, let remote = remoteDescription else { return }
        isStartPending = false
        if connectingDeadline == nil, case .connecting = state {
            connectingDeadline = now + configuration.handshakeTimeout
        }
        // Adds all candidates before the first check, so that the best is tried first.
        for candidate in pendingCandidates { ice.addRemoteCandidate(candidate, at: now) }
        pendingCandidates = []
        if hasAllRemoteCandidates { ice.endRemoteCandidates(at: now) }
        ice.start(remote: remote.credentials, deadline: now + configuration.handshakeTimeout, at: now)
        flushICE()
        let early = earlyDatagrams
        earlyDatagrams = []
        for datagram in early {
            dtls?.receive(datagram)
            flushDTLS()
            receiveDataChannels()
        }
    }

    private func makeDescription(
        _ entries: [SessionDescription.Entry], setup: SessionDescription.Setup
    ) -> SessionDescription {
        var description = SessionDescription(
            // 63 bits: RFC 8829 §5.2.1.
            sessionID: UInt64.random(in: 0...(.max >> 1), using: &ice.generator), entries: entries,
            credentials: ice.credentials,
            fingerprints: [certificate.fingerprint], setup: setup)
        describeCandidates(in: &description)
        return description
    }

    private var hasRetransmissionStreams: Bool {
        configuration.isRetransmissionStreamEnabled && configuration.isNACKEnabled
    }

    /// Offers a repair stream for each codec of a video section. Audio is sent again unchanged, because few peers
    /// accept a repair stream for it.
    private func addRetransmission(to section: inout MediaSection, usedTypes: inout Set<UInt8>) {
        guard hasRetransmissionStreams, section.kind == .video, section.feedback.contains(.nack) else { return }
        if !section.codecs.contains(where: \.isRetransmission) {
            for codec in section.codecs {
                guard let type = Self.dynamicPayloadTypes.first(where: { !usedTypes.contains($0) }) else { break }
                usedTypes.insert(type)
                section.codecs.append(.retransmission(of: codec, payloadType: type))
            }
        }
        if section.direction.sends, section.retransmissionSSRC == nil { section.retransmissionSSRC = makeSSRC() }
    }

    /// RFC 3551 §6, and RFC 5761 §4 for the second range.
    private static let dynamicPayloadTypes = Array(UInt8(96)...127) + Array(UInt8(35)...63)

    private static func mediaStreamID(of section: MediaSection) -> String {
        "\(section.cname) \(section.kind.rawValue)-\(section.mid)"
    }

    private func makeSSRC() -> UInt32 {
        UInt32.random(in: 1 ... .max, using: &ice.generator)
    }
}
