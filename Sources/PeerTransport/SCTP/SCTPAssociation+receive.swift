import IoTCore
import NIOCore

extension SCTPAssociation {
    /// Takes one packet from the peer; it may be malformed.
    mutating func receive(_ bytes: ByteBuffer, at time: NIODeadline) {
        guard state != .ended else { return }
        now = max(now, time)
        burst = configuration.maximumBurst
        guard var packet = SCTPPacket(parsing: bytes), packet.destinationPort == configuration.localPort,
            packet.sourcePort == configuration.remotePort
        else {
            counters.packetsInvalid += 1
            return
        }
        counters.packetsReceived += 1
        var isFirst = true
        var hasData = false
        var wantsAcknowledgement = !received.runs.isEmpty
        while state != .ended, let chunk = packet.nextChunk() {
            defer { isFirst = false }
            guard isTagRight(packet.tag, for: chunk, isFirst: isFirst) else {
                counters.packetsInvalid += 1
                return
            }
            if chunk.type == SCTPChunkType.data {
                hasData = true
                if handleData(chunk) { wantsAcknowledgement = true }
            } else if !handle(chunk, tag: packet.tag) {
                break
            }
        }
        guard state != .ended else { return }
        if hasData { noteDataPacket(isUrgent: wantsAcknowledgement || !received.runs.isEmpty) }
        progressShutdown()
    }

    /// Checks the verification tag (RFC 9260 §8.5).
    private func isTagRight(_ tag: UInt32, for chunk: SCTPRawChunk, isFirst: Bool) -> Bool {
        switch chunk.type {
        case SCTPChunkType.initiation:
            return tag == 0 && isFirst
        case SCTPChunkType.cookieEcho:
            // The cookie contains its own tag.
            return isFirst || tag == localTag
        case SCTPChunkType.abort, SCTPChunkType.shutdownComplete:
            // With the T bit, the packet has the tag that we send (§8.5.1 B and C).
            return chunk.flags & 1 == 0 ? tag == localTag : tag == remote?.tag
        default:
            return tag == localTag
        }
    }

    /// Returns false when the rest of the packet must not be processed.
    private mutating func handle(_ chunk: SCTPRawChunk, tag: UInt32) -> Bool {
        switch chunk.type {
        case SCTPChunkType.initiation:
            handleInitiation(chunk)
            return false
        case SCTPChunkType.initiationAcknowledgement:
            handleInitiationAcknowledgement(chunk)
            return false
        case SCTPChunkType.selectiveAcknowledgement: handleAcknowledgement(chunk)
        case SCTPChunkType.heartbeat: handleHeartbeat(chunk)
        case SCTPChunkType.heartbeatAcknowledgement: handleHeartbeatAcknowledgement(chunk)
        case SCTPChunkType.abort: handleAbort(chunk)
        case SCTPChunkType.shutdown: handleShutdown(chunk)
        case SCTPChunkType.shutdownAcknowledgement: handleShutdownAcknowledgement()
        case SCTPChunkType.error: handleError(chunk)
        case SCTPChunkType.cookieEcho: handleCookieEcho(chunk, tag: tag)
        case SCTPChunkType.cookieAcknowledgement: handleCookieAcknowledgement()
        case SCTPChunkType.shutdownComplete:
            if state == .shutdownAckSent { end(nil) }
        case SCTPChunkType.reconfiguration: handleReconfiguration(chunk)
        case SCTPChunkType.forwardTSN: handleForwardTSN(chunk)
        default:
            // The two highest bits of an unknown type say how to handle it (§3.2).
            if chunk.type & 0x40 != 0, remote != nil {
                sendControl(
                    SCTPChunkWriter.failure(SCTPChunkType.error, cause: SCTPErrorCause.unrecognisedChunk) { buffer in
                        buffer.writeMultipleIntegers(
                            chunk.type, chunk.flags, UInt16(clamping: chunk.value.readableBytes + 4))
                        buffer.writeBytes(chunk.value.readableBytesView.prefix(64))
                    })
            }
            return chunk.type & 0x80 != 0
        }
        return true
    }

    // MARK: Data

    /// Returns true when the peer needs an acknowledgement at once.
    private mutating func handleData(_ raw: SCTPRawChunk) -> Bool {
        // Data with our tag can come only from a peer that has our cookie: its COOKIE ACK was lost or overtaken.
        if state == .cookieEchoed { becomeEstablished() }
        switch state {
        case .established, .shutdownPending, .shutdownSent: break
        default: return false
        }
        guard let chunk = SCTPDataChunk(raw) else { return false }
        guard chunk.payload.readableBytes > 0 else {
            // §6.2: a DATA chunk without data aborts the association.
            abort(
                cause: SCTPErrorCause.noUserData,
                error: IoTError(.peerFailed, "the peer sent an empty data chunk"))
            return false
        }
        let tsn = chunk.tsn.unwrapped(near: received.cumulative)
        switch received.judge(tsn) {
        case .duplicate:
            counters.chunksDuplicate += 1
            return true
        case .refused:
            counters.chunksRefused += 1
            return true
        case .new:
            break
        }
        // The window is full of undeliverable data: only the next chunk in sequence is accepted.
        if reassembly.heldByteCount + chunk.payload.readableBytes > configuration.receiveWindow,
            tsn != received.cumulative + 1
        {
            counters.chunksRefused += 1
            return true
        }
        guard let remote, chunk.stream < remote.incomingStreams else {
            received.insert(tsn)
            sendControl(
                SCTPChunkWriter.failure(SCTPChunkType.error, cause: SCTPErrorCause.invalidStream) {
                    $0.writeMultipleIntegers(chunk.stream, UInt16(0))
                })
            return false
        }
        do throws(Reassembly.Violation) {
            try reassembly.insert(chunk, tsn: tsn)
        } catch {
            abort(for: error)
            return false
        }
        received.insert(tsn)
        takeMessages()
        return chunk.flags.contains(.immediate)
    }

    private mutating func abort(for violation: Reassembly.Violation) {
        switch violation {
        case .messageTooLong:
            abort(
                cause: SCTPErrorCause.outOfResource,
                error: IoTError(
                    .dataTooLong, "the peer sent a message of over \(configuration.maximumMessageSize) bytes"))
        case .mixedFragments:
            abort(
                cause: SCTPErrorCause.protocolViolation,
                error: IoTError(.peerFailed, "the peer mixed the fragments of two messages"))
        case .outOfMemory:
            abort(
                cause: SCTPErrorCause.outOfResource,
                error: IoTError(.peerFailed, "the peer sent more incomplete messages than its window allows"))
        }
    }

    mutating func takeMessages() {
        while let message = reassembly.nextMessage() { events.append(.message(message)) }
    }

    /// Acknowledges every second packet; at once while something is missing, otherwise after a delay (§6.2).
    private mutating func noteDataPacket(isUrgent: Bool) {
        unacknowledgedPackets += 1
        if isUrgent || unacknowledgedPackets >= 2 || state == .shutdownSent {
            isAcknowledgementDue = true
            if state == .shutdownSent { sendShutdown() }
        } else if timers.acknowledgement == nil {
            timers.acknowledgement = now + configuration.acknowledgementDelay
        }
    }

    private mutating func handleForwardTSN(_ chunk: SCTPRawChunk) {
        switch state {
        case .established, .shutdownPending, .shutdownSent: break
        default: return
        }
        guard let forward = SCTPForwardTSN(chunk) else { return }
        isAcknowledgementDue = true
        let point = forward.newCumulativeTSN.unwrapped(near: received.cumulative)
        guard point > received.cumulative else { return }
        received.forward(to: point)
        reassembly.forward(to: point, streams: forward.streams.filter { $0.stream < remote?.incomingStreams ?? 0 })
        takeMessages()
    }

    // MARK: Heartbeat and abort

    private mutating func handleHeartbeat(_ chunk: SCTPRawChunk) {
        guard remote != nil else { return }
        let answer = SCTPChunkWriter.chunk(SCTPChunkType.heartbeatAcknowledgement) {
            $0.writeImmutableBuffer(chunk.value)
        }
        guard answer.readableBytes <= configuration.maximumPacketSize - SCTPPacket.headerSize else { return }
        sendControl(answer)
    }

    private mutating func handleHeartbeatAcknowledgement(_ chunk: SCTPRawChunk) {
        var parameters = SCTPParameters(chunk.value)
        guard let heartbeat, let (type, value, _) = parameters.next(), type == SCTPParameterType.heartbeatInformation,
            value.getInteger(at: value.readerIndex, as: UInt64.self) == heartbeat.nonce
        else { return }
        timeout.measure(now - heartbeat.sentAt)
        errorCount = 0
        self.heartbeat = nil
    }

    private mutating func handleAbort(_ chunk: SCTPRawChunk) {
        // A stranger would need our tag to abort the association before it is established.
        let causes = SCTPParameters(chunk.value).prefix(4).map { String($0.type) }.joined(separator: ", ")
        end(
            IoTError(
                .channelDisconnected,
                "the peer aborted the data channels" + (causes.isEmpty ? "" : " (RFC 9260 cause \(causes))")))
    }

    // MARK: Stream reset

    private mutating func handleReconfiguration(_ chunk: SCTPRawChunk) {
        switch state {
        case .established, .shutdownPending, .shutdownSent, .shutdownReceived: break
        default: return
        }
        for parameter in SCTPReconfiguration.parse(chunk) {
            switch parameter {
            case .outgoingReset(let request, _, let lastTSN, let streams):
                let result = answerReset(request, lastTSN: lastTSN, streams: streams)
                respond(to: request, result)
            case .other(let request):
                respond(to: request, resets.answer(request) { .denied })
            case .response(let sequence, let result):
                handleResetResponse(sequence, result: result)
            }
        }
    }

    private mutating func respond(to request: UInt32, _ result: SCTPReconfiguration.Result) {
        sendControl(SCTPReconfiguration.response(sequence: request, result: result.rawValue).write())
    }

    private mutating func answerReset(
        _ request: UInt32, lastTSN: UInt32, streams: [UInt16]
    ) -> SCTPReconfiguration.Result {
        let limit = remote?.incomingStreams ?? 0
        let point = received.cumulative
        var isPerformed = false
        let result = resets.answer(request) {
            guard streams.allSatisfy({ $0 < limit }) else { return .wrongStreamNumber }
            guard lastTSN.unwrapped(near: point) <= point else { return .inProgress }
            isPerformed = true
            return .performed
        }
        if isPerformed {
            reassembly.reset(streams)
            events.append(.incomingStreamsReset(streams))
        }
        return result
    }

    private mutating func handleResetResponse(_ sequence: UInt32, result: UInt32) {
        guard let request = resets.request, request.sequence == sequence else { return }
        errorCount = 0
        switch SCTPReconfiguration.Result(rawValue: result) {
        case .inProgress, .alreadyInProgress:
            resets.renumber()
            timers.reconfiguration = now + timeout.current
            return
        case .performed, .nothingToDo:
            for stream in request.streams { outbox.reset(stream) }
        case .denied, .wrongStreamNumber, .badSequenceNumber, nil:
            // The stream's order continues on both sides.
            break
        }
        timers.reconfiguration = nil
        events.append(.outgoingStreamsReset(resets.finish()))
    }
}
