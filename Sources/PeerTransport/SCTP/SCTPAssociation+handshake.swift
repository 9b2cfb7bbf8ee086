import IoTCore
import NIOCore

/// Setup, simultaneous setup and restart (RFC 9260 §5).
extension SCTPAssociation {
    mutating func sendInitiation() {
        // Tag 0: the peer has none yet (§8.5.1 A).
        sendAlone(localInitiation(tag: localTag, tsn: localTSN).write(type: SCTPChunkType.initiation), tag: 0)
        initiationSentAt = now
        timers.handshake = now + timeout.current
    }

    private func localInitiation(tag: UInt32, tsn: UInt32) -> SCTPInitiation {
        SCTPInitiation(
            tag: tag, window: UInt32(clamping: configuration.receiveWindow),
            outgoingStreams: configuration.maximumStreams, incomingStreams: configuration.maximumStreams, tsn: tsn)
    }

    mutating func handleInitiation(_ chunk: SCTPRawChunk) {
        guard let theirs = SCTPInitiation(chunk), theirs.tag != 0 else {
            counters.packetsInvalid += 1
            return
        }
        guard theirs.outgoingStreams > 0, theirs.incomingStreams > 0 else {
            sendAlone(
                SCTPChunkWriter.failure(SCTPChunkType.abort, cause: SCTPErrorCause.protocolViolation), tag: theirs.tag)
            return
        }
        var tag = localTag
        var tsn = localTSN
        var ties: (local: UInt32, peer: UInt32) = (0, 0)
        switch state {
        case .closed, .cookieWait, .cookieEchoed:
            // Same values as in our own INIT, so that both handshakes end in one association (§5.2.1).
            break
        case .established, .shutdownPending, .shutdownSent, .shutdownReceived:
            // A restart, or a delayed INIT: the cookie will show which (§5.2.2).
            tag = .random(in: 1 ... .max, using: &generator)
            tsn = .random(in: .min ... .max, using: &generator)
            ties = (localTag, remote?.tag ?? 0)
        case .shutdownAckSent:
            sendControl(SCTPChunkWriter.chunk(SCTPChunkType.shutdownAcknowledgement))
            return
        case .ended:
            return
        }
        let cookie = StateCookie(
            localTag: tag, localTSN: tsn, peerTag: theirs.tag, peerTSN: theirs.tsn, peerWindow: theirs.window,
            peerOutgoingStreams: theirs.outgoingStreams, peerIncomingStreams: theirs.incomingStreams,
            peerSupportsForwardTSN: theirs.supportsForwardTSN,
            peerSupportsReconfiguration: theirs.supportsReconfiguration,
            tieTagLocal: ties.local, tieTagPeer: ties.peer, createdAt: now)
        var answer = localInitiation(tag: tag, tsn: tsn)
        answer.cookie = cookie.seal(key: cookieKey)
        answer.unrecognised = theirs.unrecognised
        sendAlone(answer.write(type: SCTPChunkType.initiationAcknowledgement), tag: theirs.tag)
    }

    mutating func handleInitiationAcknowledgement(_ chunk: SCTPRawChunk) {
        // §5.2.3: ignored in any other state.
        guard state == .cookieWait else { return }
        guard let theirs = SCTPInitiation(chunk), theirs.tag != 0, theirs.outgoingStreams > 0,
            theirs.incomingStreams > 0, let cookie = theirs.cookie
        else {
            end(IoTError(.peerFailed, "the peer's reply to the SCTP handshake is malformed"))
            return
        }
        let echo = SCTPChunkWriter.chunk(SCTPChunkType.cookieEcho) { $0.writeImmutableBuffer(cookie) }
        guard echo.readableBytes <= configuration.maximumPacketSize - SCTPPacket.headerSize else {
            end(IoTError(.peerFailed, "the peer's SCTP cookie is too long for a datagram"))
            return
        }
        if handshakeRetransmissions == 0, let initiationSentAt { timeout.measure(now - initiationSentAt) }
        begin(
            tag: theirs.tag, tsn: theirs.tsn, window: theirs.window, outgoing: theirs.outgoingStreams,
            incoming: theirs.incomingStreams, supportsForwardTSN: theirs.supportsForwardTSN,
            supportsReconfiguration: theirs.supportsReconfiguration)
        state = .cookieEchoed
        cookieEcho = echo
        sendControl(echo)
        timers.handshake = now + timeout.current
    }

    /// - Parameter tag: the packet's tag, which must equal the cookie's.
    mutating func handleCookieEcho(_ chunk: SCTPRawChunk, tag: UInt32) {
        guard let cookie = StateCookie(opening: chunk.value, key: cookieKey), cookie.localTag == tag else {
            counters.packetsInvalid += 1
            return
        }
        guard now - cookie.createdAt <= configuration.cookieLifetime else {
            let staleness = (now - cookie.createdAt - configuration.cookieLifetime).nanoseconds / 1000
            sendAlone(
                SCTPChunkWriter.failure(SCTPChunkType.error, cause: SCTPErrorCause.staleCookie) {
                    $0.writeInteger(UInt32(clamping: staleness))
                }, tag: cookie.peerTag)
            return
        }
        switch state {
        case .closed:
            adopt(cookie)
            becomeEstablished()
        case .cookieWait, .cookieEchoed:
            guard cookie.localTag == localTag else { return }
            // §5.2.4 B and D: the INIT ACK's values stay if they are from the same peer.
            if remote?.tag != cookie.peerTag { adopt(cookie) }
            becomeEstablished()
        case .established, .shutdownPending, .shutdownSent, .shutdownReceived, .shutdownAckSent:
            if cookie.localTag == localTag, cookie.peerTag == remote?.tag {
                // §5.2.4 D: our COOKIE ACK was lost.
                sendControl(SCTPChunkWriter.chunk(SCTPChunkType.cookieAcknowledgement))
            } else if cookie.tieTagLocal == localTag, cookie.tieTagPeer == remote?.tag,
                state != .shutdownAckSent
            {
                restart(with: cookie)
            }
            return
        case .ended:
            return
        }
        sendControl(SCTPChunkWriter.chunk(SCTPChunkType.cookieAcknowledgement))
    }

    mutating func handleCookieAcknowledgement() {
        if state == .cookieEchoed { becomeEstablished() }
    }

    /// A stale cookie restarts the handshake (§5.2.6); other errors are ignored.
    mutating func handleError(_ chunk: SCTPRawChunk) {
        guard state == .cookieEchoed,
            SCTPParameters(chunk.value).contains(where: { $0.type == SCTPErrorCause.staleCookie })
        else { return }
        state = .cookieWait
        cookieEcho = nil
        control = []
        remote = nil
        handshakeTimedOut()
    }

    /// T1-init or T1-cookie expired (§5.1.6 and §4).
    mutating func handshakeTimedOut() {
        handshakeRetransmissions += 1
        guard handshakeRetransmissions <= configuration.maximumHandshakeRetransmissions else {
            end(IoTError(.handshakeTimeout, "the peer does not reply to the SCTP handshake"))
            return
        }
        timeout.backOff()
        if let cookieEcho {
            sendControl(cookieEcho)
            timers.handshake = now + timeout.current
        } else {
            sendInitiation()
        }
    }

    mutating func becomeEstablished() {
        state = .established
        cookieEcho = nil
        timers.handshake = nil
        errorCount = 0
        scheduleHeartbeat()
        events.append(.established)
    }

    private mutating func adopt(_ cookie: StateCookie) {
        if cookie.localTag != localTag {
            localTag = cookie.localTag
            localTSN = cookie.localTSN
            flight = Flight(initialTSN: localTSN, overhead: Self.messageOverhead)
        }
        begin(
            tag: cookie.peerTag, tsn: cookie.peerTSN, window: cookie.peerWindow,
            outgoing: cookie.peerOutgoingStreams, incoming: cookie.peerIncomingStreams,
            supportsForwardTSN: cookie.peerSupportsForwardTSN,
            supportsReconfiguration: cookie.peerSupportsReconfiguration)
    }

    /// §5.2.4 A: the peer has lost its state, so the old association's state is discarded.
    private mutating func restart(with cookie: StateCookie) {
        outbox = OutgoingQueue(overhead: Self.messageOverhead)
        congestion = CongestionControl(segment: segmentSize, threshold: configuration.receiveWindow)
        timeout = RetransmissionTimeout(configuration)
        timers = Timers()
        control = []
        heartbeat = nil
        unacknowledgedPackets = 0
        isAcknowledgementDue = false
        isFastRetransmissionDue = false
        isForwardDue = false
        adopt(cookie)
        events.append(.restarted)
        becomeEstablished()
        sendControl(SCTPChunkWriter.chunk(SCTPChunkType.cookieAcknowledgement))
    }

    private mutating func begin(
        tag: UInt32, tsn: UInt32, window: UInt32, outgoing: UInt16, incoming: UInt16, supportsForwardTSN: Bool,
        supportsReconfiguration: Bool
    ) {
        remote = Remote(
            tag: tag, window: Int(window), outgoingStreams: min(configuration.maximumStreams, incoming),
            incomingStreams: min(configuration.maximumStreams, outgoing), supportsForwardTSN: supportsForwardTSN,
            supportsReconfiguration: supportsReconfiguration)
        received = ReceivedNumbers(initialTSN: tsn, configuration: configuration)
        reassembly = Reassembly(configuration)
        resets = StreamResets(nextSequence: localTSN, expectedSequence: tsn)
        congestion.begin(peerWindow: Int(window))
    }

    var segmentSize: Int {
        configuration.maximumPacketSize - SCTPPacket.headerSize - SCTPDataChunk.headerSize
    }
}
