public import IoTCore
public import NIOCore
public import RTP

extension PeerConnection {
    /// Sends a track's packets. Video packets may wait for the pacer.
    ///
    /// - Returns: false when at least one packet was dropped: before the connection is up, for a section in which we do
    ///   not send, because the outgoing queue is full, or because the pacer refuses video until the next key frame.
    @discardableResult
    public func send(_ packets: [MediaPacket], mid: String, at time: NIODeadline) -> Bool {
        guard let (address, index) = beginSending(mid: mid, at: time) else { return false }
        let isPaced = congestion?.isPacing == true && tracks[index].section.kind == .video
        var isComplete = true
        for packet in packets {
            if mediaClockAnchor == nil {
                mediaClockAnchor = MediaClockAnchor(pts: packet.pts, wallClock: configuration.wallClock())
            }
            if isPaced {
                guard congestion?.append(packet, track: index, at: now) != true else { continue }
                counters.packetsDiscardedOnSend += 1
                tracks[index].sender?.statistics.packetsDiscarded += 1
                isComplete = false
            } else {
                guard hasRoom() else { return false }
                transmit(packet, isRepair: false, at: index, to: address)
                congestion?.pay(byteCount: packet.payload.readableBytes, at: now)
            }
        }
        if isPaced { runPacer() }
        return isComplete
    }

    /// Sends a packet again, in reply to `.retransmissionRequested`: in the repair stream where the peer agreed to one,
    /// otherwise under its old sequence number.
    ///
    /// - Returns: false when it is not sent: it was never sent, is too old, finds no room, or already waits.
    @discardableResult
    public func resend(_ packet: MediaPacket, mid: String, at time: NIODeadline) -> Bool {
        guard let (address, index) = beginSending(mid: mid, at: time), hasRoom(),
            tracks[index].sender?.hasSent(trackSequence: packet.sequence) == true
        else { return false }
        guard congestion?.isPacing == true, tracks[index].section.kind == .video else {
            transmit(packet, isRepair: true, at: index, to: address)
            return true
        }
        guard congestion?.append(repair: packet, track: index, at: now) == true else { return false }
        runPacer()
        return true
    }

    /// Sends the packets that the pacer releases.
    func runPacer() {
        guard srtp != nil, let address = ice.selected else { return }
        // Packets that find no room stay in the pacer: dropping them would leave a hole that does not show as loss.
        while outputs.count < configuration.maximumQueuedDatagrams, let item = congestion?.pop(at: now) {
            let waited = now - item.enqueued
            tracks[item.track].sender?.statistics.noteSendDelay(waited)
            transmit(item.packet, isRepair: item.isRepair, at: item.track, to: address)
        }
    }

    private func transmit(_ packet: MediaPacket, isRepair: Bool, at index: Int, to address: ICERoute) {
        let headerExtension = tracks[index].headerExtension(
            of: packet, number: congestion?.estimator.nextNumber, playoutDelay: configuration.playoutDelay, at: now)
        var datagram = makeBuffer(for: packet)
        let number: UInt16?
        if isRepair {
            guard tracks[index].sender?.writeAgain(packet, headerExtension, into: &datagram) == true else { return }
            number = tracks[index].sender?.sequenceNumber(ofTrackSequence: packet.sequence)
        } else {
            number = tracks[index].sender?.write(packet, headerExtension, into: &datagram, at: now)
        }
        guard let srtp, srtp.protectRTP(&datagram) == .success else { return }
        if headerExtension?.transportSequenceNumber != nil, let number {
            let content = SentContent(track: UInt8(clamping: index), isRepair: isRepair, number: number)
            congestion?.noteSent(byteCount: datagram.readableBytes, content: content, at: now)
        }
        emit(datagram, to: address)
    }

    /// Takes the peer's feedback about the path.
    func takeCongestionFeedback(_ message: RTCPPacket) {
        guard congestion != nil else { return }
        switch message {
        case .transportWideFeedback(let feedback):
            let roundTrip = ice.counters.currentRoundTripTime ?? .milliseconds(100)
            for result in congestion?.handle(feedback, roundTrip: roundTrip, at: now) ?? [] { noteDelivery(result) }
        case .receiverEstimate(let estimate):
            congestion?.handle(estimate, at: now)
        case .receiverReport(let report): takeLoss(report.reports)
        case .senderReport(let report): takeLoss(report.reports)
        default: return
        }
        if let target = congestion?.targetChange() { outputs.append(.event(.targetBitrateChanged(target))) }
    }

    /// Records only the exceptions: an original that was lost, and a repair that arrived.
    private func noteDelivery(_ result: PacketResult) {
        let (content, hasArrived) = (result.content, result.arrival != nil)
        guard content.isRepair == hasArrived, tracks.indices.contains(Int(content.track)) else { return }
        tracks[Int(content.track)].sender?.noteDelivery(ofSequenceNumber: content.number, hasArrived: hasArrived)
    }

    /// The track's packets, among the last 2048 sent, that the peer's feedback reports as missing, in ascending order.
    /// Empty for a peer whose feedback does not cover single packets.
    public func undelivered(mid: String, at time: NIODeadline) -> [Int64] {
        now = max(now, time)
        return track(mid: mid).flatMap { tracks[$0].sender?.undelivered(at: now) } ?? []
    }

    /// Repairs packets as if the peer had requested them by NACK, within the same limits: the event
    /// `.retransmissionRequested` lists those that are allowed. Has no effect where the peer has not agreed to repairs.
    public func repair(_ sequences: [Int64], mid: String, at time: NIODeadline) {
        guard let (_, index) = beginSending(mid: mid, at: time), tracks[index].section.feedback.contains(.nack),
            let granted = tracks[index].sender?.grantRepairs(sequences, at: now), !granted.isEmpty
        else { return }
        outputs.append(.event(.retransmissionRequested(mid: mid, granted)))
    }

    /// Takes the loss of the track that sends most: video, if there is any.
    private func takeLoss(_ reports: [RTCPReceptionReport]) {
        let sending = tracks.filter { $0.sender != nil }
        guard let track = sending.first(where: { $0.section.kind == .video }) ?? sending.first,
            let report = reports.first(where: { $0.ssrc == track.section.localSSRC })
        else { return }
        congestion?.handle(reportedLoss: Double(report.fractionLost) / 256, at: now)
    }

    /// Reports to the peer when its packets arrived.
    func sendTransportFeedback() {
        guard let due = arrivals?.deadline, now >= due, let first = tracks.first else { return }
        let ssrc = first.section.localSSRC
        let messages = arrivals?.messages(at: now, senderSSRC: ssrc, mediaSSRC: lastReceivedSSRC) ?? []
        for message in messages {
            if first.section.allowsReducedSizeRTCP {
                sendRTCP([.transportWideFeedback(message)])
            } else {
                let name = RTCPSourceDescription(chunks: [.init(ssrc: ssrc, canonicalName: canonicalName)])
                sendRTCP([
                    .receiverReport(RTCPReceiverReport(ssrc: ssrc)), .sourceDescription(name),
                    .transportWideFeedback(message),
                ])
            }
        }
    }

    /// Says how far the peer must turn the section's pictures, from the next one on, if it agreed to the extension
    /// `urn:3gpp:video-orientation`.
    public func setRotation(_ rotation: PictureRotation, mid: String) {
        guard let index = track(mid: mid), rotation != .none || tracks[index].sendingRotation != nil else { return }
        tracks[index].sendingRotation = rotation
    }

    /// Requests a key frame from the peer (PLI), if the peer agreed to it; at most twice per second.
    public func requestKeyFrame(mid: String) {
        guard srtp != nil, let index = track(mid: mid) else { return }
        tracks[index].receiver?.requestKeyFrame(at: now)
        drainReceiver(at: index)
    }

    /// The current statistics.
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
        if let congestion {
            all.availableOutgoingBitrate = congestion.target
            all.acknowledgedBitrate = congestion.estimator.acknowledgedBitrate
            all.packetsQueuedByPacer = congestion.queuedCount
        }
        for track in tracks {
            all.outbound[track.section.mid] = track.sender?.statistics
            all.remoteInbound[track.section.mid] = track.sender.map { RemoteInboundStatistics($0.statistics) }
            all.inbound[track.section.mid] = track.receiver?.statistics
        }
        return all
    }

    /// Sends the reports that are due, and runs the receivers' timers.
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
        runPacer()
        sendTransportFeedback()
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

    /// Bytes for header extensions and the original sequence number.
    private static let headerReserve = 64

    private func makeBuffer(for packet: MediaPacket) -> ByteBuffer {
        datagramPool.take(
            RTPPacket.minimumHeaderSize + Self.headerReserve + packet.payload.readableBytes
                + SRTPSession.recommendedTrailerCapacity)
    }
}
