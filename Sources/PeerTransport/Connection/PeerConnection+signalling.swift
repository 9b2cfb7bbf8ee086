public import IoTCore
public import NIOCore
public import RTP

extension PeerConnection {
    /// The offer for the peer, with what `configuration.sections` says.
    ///
    /// - Throws: `stateMismatch` when a description was made already, `sessionDescriptionInvalid` when there is no
    ///   section or no codec to offer.
    public func createOffer() throws(IoTError) -> SessionDescription {
        guard localDescription == nil else { throw IoTError(.stateMismatch, "a description was made already") }
        guard !configuration.sections.isEmpty || configuration.dataChannels != nil,
            configuration.sections.allSatisfy({ !$0.codecs.isEmpty })
        else {
            throw IoTError(.sessionDescriptionInvalid, "there is no media section to offer, or one has no codec")
        }
        // One space of payload types for the whole bundle (RFC 9143 §9.1).
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

    /// The answer to a peer's offer; connecting begins with it.
    ///
    /// - Parameter accepting: false declines an offered section.
    /// - Throws: `stateMismatch` when a description was made already, `sessionDescriptionInvalid` when nothing of the
    ///   offer is accepted or fits.
    public func createAnswer(
        to offer: SessionDescription, accepting: (MediaSection) -> Bool = { _ in true }
    ) throws(IoTError) -> SessionDescription {
        if localDescription != nil { return try createRestartAnswer(to: offer) }
        guard !state.isEnd else { throw IoTError(.stateMismatch, "the connection has ended") }
        var unused = configuration.sections
        let entries = offer.entries.map { entry -> SessionDescription.Entry in
            if case .data(let offered) = entry {
                return .data(dataAnswer(to: offered, isFirst: offered.mid == offer.dataSection?.mid))
            }
            guard case .media(let offered) = entry else { return entry }
            guard !offered.isRejected, accepting(offered) else { return .media(offered.rejected) }
            let match = unused.firstIndex { $0.kind == offered.kind }
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
        // As the server our order of SRTP profiles decides, and AES-GCM is the cheap one: passive where we may
        // choose, although RFC 8842 §5.3 recommends active for the sake of one round trip.
        let answer = makeDescription(entries, setup: offer.setup == .passive ? .active : .passive)
        guard answer.sections.contains(where: { !$0.isRejected }) || answer.dataSection?.isRejected == false else {
            throw IoTError(.sessionDescriptionInvalid, "nothing in the offer can be used: no codec fits")
        }
        try connect(local: answer, remote: offer, role: offer.setup == .passive ? .client : .server)
        return answer
    }

    /// The peer's answer to our offer; connecting begins with it.
    ///
    /// - Throws: `stateMismatch` without an offer or with an answer already there, `sessionDescriptionInvalid` when
    ///   it does not answer the offer.
    public func setAnswer(_ answer: SessionDescription) throws(IoTError) {
        if restartOffer != nil { return try setRestartAnswer(answer) }
        guard let offer = localDescription, remoteDescription == nil, !state.isEnd else {
            throw IoTError(.stateMismatch, "there is no offer that waits for an answer")
        }
        guard answer.entries.count == offer.entries.count, answer.sections.count == offer.sections.count,
            zip(answer.sections, offer.sections).allSatisfy({ $0.mid == $1.mid && $0.kind == $1.kind }),
            answer.dataSection?.mid == offer.dataSection?.mid
        else { throw IoTError(.sessionDescriptionInvalid, "the answer's sections are not those of the offer") }
        guard answer.setup != .either else {
            throw IoTError(.sessionDescriptionInvalid, "the answer leaves the DTLS role open")
        }
        try connect(local: offer, remote: answer, role: answer.setup == .active ? .server : .client)
    }

    /// One more of the peer's candidates, as `candidate:…`; empty text means that there are no more.
    ///
    /// Candidates that are of no use here (TCP, host names but those in `.local`) and those behind the 128th that come
    /// before the description are ignored.
    /// - Throws: `sessionDescriptionInvalid` when it is malformed.
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

    /// One more address under which the peer may reach us; told to it by a `.localCandidate` event when the
    /// description is made already.
    public func addHostAddress(_ address: SocketAddress) {
        guard !state.isEnd, let candidate = ice.addHostAddress(address), localDescription != nil else { return }
        outputs.append(.event(.localCandidate(candidate.text)))
    }

    /// There are no more addresses to come; told to the peer by an empty `.localCandidate`.
    public func endHostAddresses() {
        guard !state.isEnd, !configuration.hasAllHostAddresses, !hasEndedHostAddresses else { return }
        hasEndedHostAddresses = true
        endCandidatesIfComplete()
    }

    /// What was agreed for a section; `nil` before both descriptions are there, and for a declined one.
    func track(mid: String) -> Int? {
        tracks.firstIndex { $0.section.mid == mid }
    }

    /// The codec in which we send a section; `nil` when we do not send in it.
    public func sendingCodec(mid: String) -> RTPCodec? {
        track(mid: mid).flatMap { tracks[$0].section.sendingCodec }
    }

    /// The codecs that may come in a section, with the parameters that the peer gave.
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
            throw IoTError(.sessionDescriptionInvalid, "the peers agree on no codec in any section")
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
        // One that sends no checks must be controlled (RFC 8445 §6.1.1).
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
        }
        if tracks.contains(where: { $0.receiver != nil && $0.hasTransportNumbers }) { arrivals = ArrivalRecorder() }
        let sending = tracks.filter { $0.sender != nil }
        guard configuration.congestion.isEnabled, !sending.isEmpty else { return }
        congestion = CongestionController(
            configuration.congestion, isPacing: sending.contains(where: \.hasRateFeedback),
            maximumQueue: configuration.maximumQueuedDatagrams, at: now)
    }

    /// What the sender of a track asks its receivers to wait (the extension `playout-delay`); `nil` before it does.
    public func requestedPlayoutDelay(mid: String) -> PlayoutDelay? {
        track(mid: mid).flatMap { tracks[$0].playoutDelay }
    }

    /// Descriptions carry no time, so what they set off begins with the next call that does.
    func startIfPending() {
        // During a restart of ours the description that is there is the old one.
        guard isStartPending, restartOffer == nil, let remote = remoteDescription else { return }
        isStartPending = false
        if connectingDeadline == nil, case .connecting = state {
            connectingDeadline = now + configuration.handshakeTimeout
        }
        // All of them before the first check, so that the best is tried first.
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

    /// Offers a stream of repairs for each codec of a video section. Sound goes out again as it was: few peers take
    /// repairs of it.
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

    /// RFC 3551 §6, and RFC 5761 §4 for those of the second range.
    private static let dynamicPayloadTypes = Array(UInt8(96)...127) + Array(UInt8(35)...63)

    private static func mediaStreamID(of section: MediaSection) -> String {
        "\(section.cname) \(section.kind.rawValue)-\(section.mid)"
    }

    private func makeSSRC() -> UInt32 {
        UInt32.random(in: 1 ... .max, using: &ice.generator)
    }
}
