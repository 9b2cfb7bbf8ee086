import IoTCore
public import NIOCore

extension PeerConnection {
    /// Sends a track's packets.
    ///
    /// - Returns: false when at least one was dropped: before the connection is up, for a section in which we do not
    ///   send, or because the outgoing queue is full.
    @discardableResult
    public func send(_ packets: [MediaPacket], mid: String, at time: NIODeadline) -> Bool {
        guard let (address, index) = beginSending(mid: mid, at: time) else { return false }
        for packet in packets {
            if mediaClockAnchor == nil {
                mediaClockAnchor = MediaClockAnchor(pts: packet.pts, wallClock: configuration.wallClock())
            }
            guard hasRoom() else { return false }
            var datagram = makeBuffer(for: packet)
            tracks[index].sender?.write(packet, into: &datagram, at: now)
            sendRTP(&datagram, to: address)
        }
        return true
    }

    /// Sends a packet again under its old sequence number, as the answer to `.retransmissionRequested`.
    ///
    /// - Returns: false when it was not sent: never before, too long ago, or for want of room.
    @discardableResult
    public func resend(_ packet: MediaPacket, mid: String, at time: NIODeadline) -> Bool {
        guard let (address, index) = beginSending(mid: mid, at: time), hasRoom() else { return false }
        var datagram = makeBuffer(for: packet)
        guard tracks[index].sender?.writeAgain(packet, into: &datagram) == true else { return false }
        sendRTP(&datagram, to: address)
        return true
    }

    /// Asks the peer for a key frame (PLI), if it agreed to be asked; no more often than twice a second.
    public func requestKeyFrame(mid: String) {
        guard srtp != nil, let index = track(mid: mid) else { return }
        tracks[index].receiver?.requestKeyFrame(at: now)
        drainReceiver(at: index)
    }

    /// What has been counted so far.
    public var statistics: PeerStatistics {
        var all = counters
        all.iceRole = ice.isControlling ? "controlling" : "controlled"
        all.dtlsRole = dtls?.role.rawValue ?? "unknown"
        all.dtlsCipher = dtls?.cipherName ?? ""
        all.srtpCipher = srtp?.profile.openSSLName ?? ""
        all.remoteAddress = ice.selected?.remote
        all.candidatePairs = ice.pairStatistics
        all.localCandidates = ice.localCandidateStatistics
        all.remoteCandidates = ice.remoteCandidateStatistics
        all.selectedCandidatePairChanges = ice.counters.selectedCandidatePairChanges
        all.requestsSent = ice.counters.requestsSent
        all.requestsReceived = ice.counters.requestsReceived
        all.responsesSent = ice.counters.responsesSent
        all.responsesReceived = ice.counters.responsesReceived
        all.consentRequestsSent = ice.counters.consentRequestsSent
        all.currentRoundTripTime = ice.counters.currentRoundTripTime
        all.totalRoundTripTime = ice.counters.totalRoundTripTime
        all.dataChannelsOpened = dataChannels?.openedCount ?? 0
        all.dataChannelsClosed = dataChannels?.closedCount ?? 0
        all.dataChannels = dataChannels?.statistics ?? []
        all.sctpTransport = dataChannels?.transportStatistics
        for track in tracks {
            all.outbound[track.section.mid] = track.sender?.statistics
            all.inbound[track.section.mid] = track.receiver?.statistics
        }
        return all
    }

    /// Reports that are due, and the receivers' own deadlines.
    func runTracks() {
        guard srtp != nil else { return }
        for index in tracks.indices {
            if let deadline = tracks[index].receiverDeadline, now >= deadline {
                tracks[index].receiver?.handleTimeout(at: now)
                drainReceiver(at: index)
            }
            if let due = tracks[index].sender?.reportDeadline, now >= due, let anchor = mediaClockAnchor,
                let packets = tracks[index].sender?.report(
                    at: now, wallClock: configuration.wallClock(), anchor: anchor)
            {
                sendRTCP(packets)
            }
        }
    }

    func sendRTCP(_ packets: [RTCPPacket]) {
        guard let srtp, let address = ice.selected else { return }
        var datagram = datagramPool.take()
        RTCPPacket.write(compound: packets, into: &datagram)
        guard srtp.protectRTCP(&datagram) == .success else { return }
        emit(datagram, to: address)
    }

    private func beginSending(mid: String, at time: NIODeadline) -> (ICERoute, Int)? {
        now = max(now, time)
        guard srtp != nil, let address = ice.selected, let index = track(mid: mid), tracks[index].sender != nil
        else { return nil }
        return (address, index)
    }

    private func hasRoom() -> Bool {
        if outputs.count < configuration.maximumQueuedDatagrams { return true }
        counters.packetsDiscardedOnSend += 1
        return false
    }

    private func makeBuffer(for packet: MediaPacket) -> ByteBuffer {
        datagramPool.take(
            RTPPacket.minimumHeaderSize + packet.payload.readableBytes + SRTPSession.recommendedTrailerCapacity)
    }

    private func sendRTP(_ datagram: inout ByteBuffer, to address: ICERoute) {
        guard let srtp, srtp.protectRTP(&datagram) == .success else { return }
        emit(datagram, to: address)
    }
}
