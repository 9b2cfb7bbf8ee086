import IoTCore
public import NIOCore
import RTP

extension PeerConnection {
    /// Takes one datagram that may be from the peer. Other datagrams are counted and ignored.
    public func receive(_ datagram: ByteBuffer, from source: SocketAddress, at time: NIODeadline) {
        guard !state.isEnd else { return }
        now = max(now, time)
        startIfPending()
        receive(datagram, on: ICERoute(source))
    }

    /// Takes a datagram from our socket or from one of our relays.
    func receive(_ datagram: ByteBuffer, on route: ICERoute) {
        if accept(datagram, on: route) {
            counters.packetsReceived += 1
            counters.bytesReceived += UInt64(datagram.readableBytes)
        } else {
            counters.datagramsIgnored += 1
        }
    }

    private func accept(_ datagram: ByteBuffer, on route: ICERoute) -> Bool {
        guard let kind = DatagramKind(datagram) else { return false }
        if kind == .stun {
            defer { flushICE() }
            return ice.receive(datagram, on: route, at: now)
        }
        // A stranger must not cause public-key work: DTLS is accepted only after a check with our ICE password.
        guard route == ice.selected || ice.validated.contains(route) else { return false }
        ice.noteReceived(datagram.readableBytes)
        switch kind {
        case .stun: return false
        case .dtls: return acceptDTLS(datagram)
        case .rtp: return acceptRTP(datagram)
        case .rtcp: return acceptRTCP(datagram)
        }
    }

    private func acceptDTLS(_ datagram: ByteBuffer) -> Bool {
        guard let dtls else {
            guard earlyDatagrams.count < Self.maximumHeldDatagrams else { return false }
            // A copy, because the datagram is a part of the socket's large buffer.
            earlyDatagrams.append(ByteBuffer(bytes: datagram.readableBytesView))
            return true
        }
        dtls.receive(datagram)
        flushDTLS()
        receiveDataChannels()
        return true
    }

    private func acceptRTP(_ datagram: ByteBuffer) -> Bool {
        var packet = datagram
        guard let srtp else { return false }
        guard srtp.unprotectRTP(&packet) == .success, let parsed = try? RTPPacket(parsing: packet) else {
            counters.packetsUndecryptable += 1
            return false
        }
        ice.noteTraffic(at: now)
        let headerExtension = IncomingHeaderExtension(parsed, extensions)
        if let number = headerExtension.transportSequenceNumber, arrivals != nil {
            arrivals?.note(number, at: now)
            lastReceivedSSRC = parsed.ssrc
        }
        guard let index = route(parsed, mid: headerExtension.mid) else { return false }
        if let delay = headerExtension.playoutDelay { tracks[index].playoutDelay = delay }
        if let rotation = headerExtension.videoOrientation.map(PictureRotation.init(orientation:)),
            rotation != tracks[index].receivedRotation
        {
            tracks[index].receivedRotation = rotation
            outputs.append(.event(.rotationChanged(mid: tracks[index].section.mid, rotation)))
        }
        if let original = tracks[index].section.receivingRetransmissionTypes[parsed.payloadType] {
            tracks[index].receiver?.handle(repair: parsed, of: original, at: now)
        } else {
            tracks[index].receiver?.handle(parsed, at: now)
        }
        drainReceiver(at: index)
        sendTransportFeedback()
        return true
    }

    /// The track of an incoming packet (RFC 9143 §9.2): by its `mid`, by its SSRC, or the first time by a payload type
    /// that only one section has. The receiver decides whether to accept a new SSRC.
    private func route(_ packet: RTPPacket, mid: String?) -> Int? {
        let index: Int
        if let mid {
            // The packet names an unknown section, or one that does not receive.
            guard let named = tracks.firstIndex(where: { $0.section.mid == mid && $0.receiver != nil }) else {
                return nil
            }
            index = named
        } else if let known = routes[packet.ssrc] {
            return known
        } else {
            let takers = tracks.indices.filter { tracks[$0].receives(payloadType: packet.payloadType) }
            guard let taker = takers.first, takers.count == 1 else { return nil }
            index = taker
        }
        if routes[packet.ssrc] != nil || routes.count < Self.maximumRoutes { routes[packet.ssrc] = index }
        return index
    }

    private func acceptRTCP(_ datagram: ByteBuffer) -> Bool {
        var packet = datagram
        guard let srtp else { return false }
        guard srtp.unprotectRTCP(&packet) == .success, let compound = try? RTCPPacket.parseCompound(packet) else {
            counters.packetsUndecryptable += 1
            return false
        }
        ice.noteTraffic(at: now)
        for message in compound {
            takeCongestionFeedback(message)
            if case .goodbye(let goodbye) = message { end(goodbye) }
            if case .senderReport(let report) = message, let index = routes[report.ssrc],
                let mapping = tracks[index].receiver?.handle(senderReport: report, at: now)
            {
                outputs.append(.event(.senderReport(mid: tracks[index].section.mid, mapping)))
                drainReceiver(at: index)
            }
            for index in tracks.indices {
                let mid = tracks[index].section.mid
                for event in tracks[index].sender?.handle(message, at: now) ?? [] {
                    switch event {
                    case .keyFrameRequested:
                        outputs.append(.event(.keyFrameRequested(mid: mid)))
                    case .retransmissionRequested(let sequences):
                        outputs.append(.event(.retransmissionRequested(mid: mid, sequences)))
                    }
                }
            }
        }
        runPacer()
        return true
    }

    private func end(_ goodbye: RTCPGoodbye) {
        for index in tracks.indices where tracks[index].receiver != nil {
            // The SSRC of repairs does not count, because repairs may end alone.
            let ssrc = tracks[index].receiver?.remoteSSRC ?? tracks[index].section.remoteSSRC
            guard let ssrc, goodbye.ssrcs.contains(ssrc) else { continue }
            outputs.append(.event(.goodbye(mid: tracks[index].section.mid)))
        }
    }

    func drainReceiver(at index: Int) {
        tracks[index].receiverDeadline = nil
        let mid = tracks[index].section.mid
        while let output = tracks[index].receiver?.poll() {
            switch output {
            case .frame(let frame): outputs.append(.event(.frame(mid: mid, frame)))
            case .frameLost: outputs.append(.event(.frameLost(mid: mid)))
            case .rtcp(let packets): sendRTCP(packets)
            case .timeout(let time):
                tracks[index].receiverDeadline = time
                return
            }
        }
    }

    func flushICE() {
        while let output = ice.poll() {
            switch output {
            case .timeout: return noteRoundTrip()
            case .transmit(let datagram, let address):
                counters.packetsSent += 1
                counters.bytesSent += UInt64(datagram.readableBytes)
                outputs.append(.transmit(datagram, to: address))
            case .request(let request): outputs.append(.network(request))
            case .event(let event): handle(event)
            }
        }
    }

    /// Passes ICE's round-trip time to the receivers before the first loss, so that they request lost packets in time.
    private func noteRoundTrip() {
        guard srtp != nil, let roundTrip = ice.counters.currentRoundTripTime, roundTrip != notedRoundTrip else {
            return
        }
        notedRoundTrip = roundTrip
        for index in tracks.indices { tracks[index].receiver?.update(roundTripTime: roundTrip) }
    }

    private func handle(_ event: ICEAgent.Event) {
        switch event {
        case .validated: break
        case .candidate, .gathered, .candidateError: handleGathering(event)
        case .received(let datagram, let route): receive(datagram, on: route)
        case .selected(let route):
            let held = heldDatagrams
            heldDatagrams = []
            for datagram in held { emit(datagram, to: route) }
            if let dtls, dtls.role == .client, case .handshaking = dtls.state {
                dtls.start()
                flushDTLS()
            }
        case .disconnected:
            if case .connected = state { change(.disconnected) }
        case .reconnected:
            if case .disconnected = state { change(.connected) }
        case .failed(.handshakeTimeout):
            fail(IoTError(.handshakeTimeout, "ICE found no path to the peer in time: check that UDP packets reach it"))
        case .failed(.noRelayAddress):
            fail(
                IoTError(
                    .noRelayAddress,
                    "no TURN server gave a relay address, and ICE found no direct path to the peer in time"))
        case .failed(let code):
            fail(IoTError(code))
        }
    }

    /// Sends pending DTLS datagrams and handles the DTLS state.
    func flushDTLS() {
        flushDTLSDatagrams()
        guard let dtls else { return }
        switch dtls.state {
        case .handshaking: break
        case .connected(let keys): connected(with: keys, role: dtls.role)
        case .closed: close(at: now)
        case .failed(let error): fail(error)
        }
    }

    func flushDTLSDatagrams() {
        while let datagram = dtls?.nextDatagram() {
            if let address = ice.selected {
                emit(datagram, to: address)
            } else if heldDatagrams.count < Self.maximumHeldDatagrams {
                heldDatagrams.append(datagram)
            }
        }
    }

    private func connected(with keys: DTLSSession.Keys, role: DTLSSession.Role) {
        guard srtp == nil, case .connecting = state else { return }
        do {
            srtp = try SRTPSession(
                profile: keys.profile, keyingMaterial: keys.keyingMaterial, isDTLSClient: role == .client)
        } catch {
            return fail(error)
        }
        connectingDeadline = nil
        noteRoundTrip()
        change(.connected)
        startDataChannels(role: role)
    }
}
