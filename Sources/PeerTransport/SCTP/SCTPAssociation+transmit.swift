import IoTCore
import NIOCore

/// Output: control chunks first, then lost data, then new data (RFC 9260 §6.1, §6.10).
extension SCTPAssociation {
    /// The smallest fragment of a long message that shares a packet with other chunks.
    private static let minimumFragment = 256
    private static let maximumStreamsInChunk = 250

    /// The next packet to send; `nil` when nothing may be sent now.
    mutating func nextPacket() -> ByteBuffer? {
        if let packet = packets.popFirst() {
            counters.packetsSent += 1
            return packet
        }
        guard state != .ended, let remote else { return nil }
        if !resets.waiting.isEmpty { beginReset() }
        let sendsData = mayHaveData && burst > 0
        if sendsData { abandonExpired() }
        guard !control.isEmpty || isAcknowledgementDue || isForwardDue || (sendsData && hasSendableData) else {
            return nil
        }
        var writer = SCTPPacketWriter(configuration, tag: remote.tag)
        while let chunk = control.first, writer.append(chunk) { control.removeFirst() }
        if isAcknowledgementDue || (unacknowledgedPackets > 0 && sendsData) { appendAcknowledgement(&writer) }
        if isForwardDue { appendForward(&writer) }
        if sendsData, fill(&writer) { burst -= 1 }
        guard !writer.isEmpty else { return nil }
        counters.packetsSent += 1
        return writer.finish()
    }

    private var mayHaveData: Bool {
        switch state {
        case .established, .shutdownPending, .shutdownReceived: true
        default: false
        }
    }

    private var hasSendableData: Bool {
        guard flight.lostCount > 0 || !outbox.isEmpty else { return false }
        return (isFastRetransmissionDue && flight.lostCount > 0) || mayTransmit(1)
    }

    /// §6.1 A and B: data must fit the peer's window and the congestion window. Exception: one chunk, which probes a
    /// closed window.
    private func mayTransmit(_ count: Int) -> Bool {
        flight.byteCount == 0
            || (flight.byteCount < congestion.window && flight.byteCount + count <= remote?.window ?? 0)
    }

    private mutating func appendAcknowledgement(_ writer: inout SCTPPacketWriter) {
        let window = max(0, configuration.receiveWindow - reassembly.heldByteCount)
        guard writer.append(received.acknowledgement(window: window).write()) else { return }
        isAcknowledgementDue = false
        unacknowledgedPackets = 0
        timers.acknowledgement = nil
    }

    private mutating func appendForward(_ writer: inout SCTPPacketWriter) {
        guard let forward = flight.forward(maximumStreams: Self.maximumStreamsInChunk) else {
            isForwardDue = false
            return
        }
        guard writer.append(forward.write()) else { return }
        isForwardDue = false
        forwardSentAt = now
        if timers.retransmission == nil { timers.retransmission = now + timeout.current }
    }

    private mutating func abandonExpired() {
        guard remote?.supportsForwardTSN == true else { return }
        while let chunk = flight.firstLostChunk(),
            chunk.reliability.isExpired(transmissions: chunk.transmissions, at: now)
        {
            abandon(messageAt: chunk)
        }
    }

    /// Returns true when the packet now contains data.
    private mutating func fill(_ writer: inout SCTPPacketWriter) -> Bool {
        var hasData = false
        let isFast = isFastRetransmissionDue
        while let chunk = flight.firstLostChunk() {
            let size = chunk.payload.readableBytes
            // A second expired chunk waits for its FORWARD TSN in the next packet.
            if hasData, remote?.supportsForwardTSN == true,
                chunk.reliability.isExpired(transmissions: chunk.transmissions, at: now)
            {
                return hasData
            }
            guard SCTPDataChunk.headerSize + size <= writer.remaining, isFast || mayTransmit(size) else {
                if isFast, hasData { isFastRetransmissionDue = false }
                return hasData
            }
            writer.append(chunk.wireChunk)
            flight.noteSentAgain(chunk.tsn, at: now)
            counters.chunksRetransmitted += 1
            hasData = true
            // §7.2.4 (4): the chunk with the lowest number restarts the timer.
            if chunk.tsn == flight.cumulative + 1 || timers.retransmission == nil {
                timers.retransmission = now + timeout.current
            }
        }
        isFastRetransmissionDue = false
        return appendNew(&writer) || hasData
    }

    private mutating func appendNew(_ writer: inout SCTPPacketWriter) -> Bool {
        guard !outbox.isEmpty else { return false }
        if flight.isEmpty, let last = lastDataSentAt, now - last > timeout.current {
            congestion.idled()
            lastDataSentAt = now
        }
        var hasData = false
        while let next = outbox.nextSize(at: now) {
            let room = (writer.remaining - SCTPDataChunk.headerSize) & ~3
            guard room > 0 else { break }
            if next.count > room {
                // A message that fits one packet waits for the next; a longer one starts here if there is enough room.
                guard room == segmentSize || (room >= Self.minimumFragment && next.count > segmentSize) else { break }
            }
            let count = min(next.count, room)
            guard mayTransmit(count), let fragment = outbox.take(count) else { break }
            let message = fragment.message
            var flags: SCTPDataChunk.Flags = message.isUnordered ? .unordered : []
            if fragment.isFirst { flags.insert(.beginning) }
            if fragment.isLast { flags.insert(.ending) }
            var chunk = SentChunk(
                tsn: flight.nextTSN, message: message.id, stream: message.stream, sequence: message.sequence ?? 0,
                payloadProtocol: message.payloadProtocol, flags: flags, reliability: message.reliability,
                payload: fragment.payload, sentAt: now)
            chunk.transmissions = 1
            chunk.isInFlight = true
            writer.append(chunk.wireChunk)
            flight.append(chunk)
            hasData = true
        }
        if hasData {
            lastDataSentAt = now
            if timers.retransmission == nil { timers.retransmission = now + timeout.current }
        }
        return hasData
    }

    // MARK: Stream reset

    private mutating func beginReset() {
        guard state == .established, let remote, resets.request == nil else { return }
        let ready = resets.waiting.filter { !outbox.hasMessages(of: $0) && flight.outstandingByStream[$0] == nil }
        let lastTSN = UInt32(truncatingIfNeeded: flight.lastTSN)
        guard
            let request = resets.begin(Array(ready.prefix(Self.maximumStreamsInChunk)), lastTSN: lastTSN)
        else { return }
        guard remote.supportsReconfiguration else {
            events.append(.outgoingStreamsReset(resets.finish()))
            return
        }
        sendReset(request)
    }

    mutating func sendReset(_ request: StreamResets.Request) {
        sendControl(
            SCTPReconfiguration.outgoingReset(
                request: request.sequence, response: resets.lastAnswered, lastTSN: request.lastTSN,
                streams: request.streams
            ).write())
        timers.reconfiguration = now + timeout.current
    }
}
