import IoTCore
public import NIOCore

extension PeerConnection {
    /// One datagram that may be the peer's. What is not is counted and ignored.
    public func receive(_ datagram: ByteBuffer, from source: SocketAddress, at time: NIODeadline) {
        guard !state.isEnd else { return }
        now = max(now, time)
        startIfPending()
        receive(datagram, on: ICERoute(source))
    }

    /// What came out of our socket or through a relay of ours.
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
        // A stranger must not make us work with public keys: it has to know our ICE password first.
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
            earlyDatagrams.append(datagram)
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
        guard let index = route(parsed) else { return false }
        tracks[index].receiver?.handle(parsed, at: now)
        drainReceiver(at: index)
        return true
    }

    /// The track of an incoming packet: by its SSRC, or the first time by its payload type, which names one section
    /// of a bundle (RFC 9143 §9.2). Whether a new SSRC is believed the receiver decides.
    private func route(_ packet: RTPPacket) -> Int? {
        if let index = routes[packet.ssrc] { return index }
        guard let index = tracks.firstIndex(where: { $0.receives(payloadType: packet.payloadType) }) else {
            return nil
        }
        if routes.count < Self.maximumRoutes { routes[packet.ssrc] = index }
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
        return true
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

    /// ICE measures before the first loss does: a receiver that knows the way asks for lost packets in time.
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
            fail(IoTError(.handshakeTimeout, "no way to the peer was found in time: check that UDP reaches it"))
        case .failed(let code):
            fail(IoTError(code))
        }
    }

    /// Sends what DTLS has to say, and follows its state.
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
