import IoTCore
import NIOCore

/// Handles acknowledgements and their absence (RFC 9260 §6.2.1, §6.3, §7.2).
extension SCTPAssociation {
    mutating func handleAcknowledgement(_ chunk: SCTPRawChunk) {
        switch state {
        case .established, .shutdownPending, .shutdownReceived, .shutdownSent: break
        default: return
        }
        guard let sack = SCTPAcknowledgement(chunk) else { return }
        handleAcknowledgement(sack)
    }

    mutating func handleAcknowledgement(_ sack: SCTPAcknowledgement) {
        guard sack.cumulativeTSN.unwrapped(near: flight.cumulative) >= flight.cumulative else { return }
        let outstanding = flight.byteCount
        let advanced = flight.advanced
        guard
            let result = flight.acknowledge(sack, isRecovering: congestion.recoveryExit != nil, at: now)
        else {
            abort(
                cause: SCTPErrorCause.protocolViolation,
                error: IoTError(.peerFailed, "the peer acknowledged data that was never sent"))
            return
        }
        remote?.window = Int(sack.window)
        if let roundTrip = result.roundTrip { timeout.measure(roundTrip) }
        // A peer with a closed window is alive (§6.1 A).
        if result.acknowledgedBytes > 0 || result.hasAdvanced || sack.window == 0 { errorCount = 0 }
        congestion.acknowledged(
            result.acknowledgedBytes, outstanding: outstanding, cumulative: flight.cumulative,
            hasAdvanced: result.hasAdvanced, isAllAcknowledged: flight.isEmpty)
        if result.hasLoss {
            if congestion.recoveryExit == nil { isFastRetransmissionDue = true }
            congestion.lossSeen(highestSent: flight.lastTSN)
        }
        if !flight.isWaiting {
            timers.retransmission = nil
        } else if result.hasAdvanced || timers.retransmission == nil {
            timers.retransmission = now + timeout.current
        }
        // FORWARD TSN is sent once for each advance, and again after a round trip (RFC 3758 §3.5 C3).
        if flight.advanced > flight.cumulative,
            flight.advanced > advanced || now - forwardSentAt >= timeout.smoothedRoundTrip ?? timeout.current
        {
            isForwardDue = true
        }
    }

    /// T3-rtx expired (§6.3.3).
    mutating func retransmissionTimedOut() {
        guard flight.isWaiting else { return }
        counters.timeouts += 1
        guard noteSilence() else { return }
        timeout.backOff()
        congestion.timedOut()
        flight.markAllLost()
        isFastRetransmissionDue = false
        if flight.advanced > flight.cumulative { isForwardDue = true }
        timers.retransmission = now + timeout.current
    }

    /// Counts a time-out. Returns false when the limit is exceeded and the association ends (§8.1).
    mutating func noteSilence() -> Bool {
        errorCount += 1
        guard errorCount > configuration.maximumRetransmissions else { return true }
        abort(
            cause: SCTPErrorCause.userAbort,
            error: IoTError(.channelDisconnected, "the peer no longer acknowledges data"))
        return false
    }

    /// Abandons the message, both its sent and unsent parts (RFC 3758 §3.5 A).
    mutating func abandon(messageAt chunk: SentChunk) {
        counters.messagesAbandoned += 1
        let isOpen = flight.isOpen(messageAt: chunk.tsn)
        flight.abandon(messageAt: chunk.tsn)
        if isOpen, outbox.abandon(message: chunk.message) {
            // Reserves the TSN of an ending chunk that is never sent; otherwise the peer would take the next message
            // for the rest of this one.
            var ending = SentChunk(
                tsn: flight.nextTSN, message: chunk.message, stream: chunk.stream, sequence: chunk.sequence,
                payloadProtocol: chunk.payloadProtocol,
                flags: chunk.flags.subtracting(.beginning).union(.ending), reliability: chunk.reliability,
                payload: ByteBuffer(), sentAt: now)
            ending.isAbandoned = true
            flight.append(ending)
        }
        isForwardDue = true
    }
}
