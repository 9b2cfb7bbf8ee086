import IoTCore
import NIOCore

extension SCTPAssociation {
    /// Does everything that is due.
    mutating func handleTimeout(at time: NIODeadline) {
        guard state != .ended else { return }
        now = max(now, time)
        burst = configuration.maximumBurst
        if Self.take(&timers.shutdownGuard, at: now) {
            abort(
                cause: SCTPErrorCause.userAbort,
                error: IoTError(.channelDisconnected, "the peer did not close the data channels in time"))
        }
        if Self.take(&timers.handshake, at: now) { handshakeTimedOut() }
        if Self.take(&timers.acknowledgement, at: now) { isAcknowledgementDue = true }
        if Self.take(&timers.retransmission, at: now) { retransmissionTimedOut() }
        if Self.take(&timers.shutdown, at: now) { shutdownTimedOut() }
        if Self.take(&timers.reconfiguration, at: now) { reconfigurationTimedOut() }
        if Self.take(&timers.heartbeat, at: now) { heartbeatTimedOut() }
        progressShutdown()
    }

    private static func take(_ timer: inout NIODeadline?, at now: NIODeadline) -> Bool {
        guard let deadline = timer, now >= deadline else { return false }
        timer = nil
        return true
    }

    private mutating func reconfigurationTimedOut() {
        guard let request = resets.request, noteSilence() else { return }
        timeout.backOff()
        sendReset(request)
    }

    // MARK: Heartbeat (RFC 9260 §8.3)

    mutating func scheduleHeartbeat() {
        timers.heartbeat = configuration.heartbeatInterval.map { now + $0 + timeout.current }
    }

    private mutating func heartbeatTimedOut() {
        guard state == .established || state == .shutdownPending || state == .shutdownReceived else { return }
        // The last heartbeat had no response in all this time.
        if heartbeat != nil, !noteSilence() { return }
        heartbeat = nil
        scheduleHeartbeat()
        // Data in flight serve the same purpose.
        guard flight.isEmpty else { return }
        let nonce = UInt64.random(in: .min ... .max, using: &generator)
        heartbeat = (nonce, now)
        sendControl(
            SCTPChunkWriter.chunk(SCTPChunkType.heartbeat) { buffer in
                SCTPChunkWriter.parameter(SCTPParameterType.heartbeatInformation, in: &buffer) {
                    $0.writeInteger(nonce)
                }
            })
    }

    // MARK: Shutdown (RFC 9260 §9.2)

    /// Continues the shutdown when all sent data are acknowledged.
    mutating func progressShutdown() {
        guard state == .shutdownPending || state == .shutdownReceived, outbox.isEmpty, flight.isEmpty else { return }
        if state == .shutdownPending {
            state = .shutdownSent
            sendShutdown()
        } else {
            state = .shutdownAckSent
            sendShutdownAcknowledgement()
        }
    }

    mutating func sendShutdown() {
        sendControl(
            SCTPChunkWriter.chunk(SCTPChunkType.shutdown) {
                $0.writeInteger(UInt32(truncatingIfNeeded: received.cumulative))
            })
        timers.shutdown = now + timeout.current
    }

    private mutating func sendShutdownAcknowledgement() {
        sendControl(SCTPChunkWriter.chunk(SCTPChunkType.shutdownAcknowledgement))
        timers.shutdown = now + timeout.current
    }

    private mutating func shutdownTimedOut() {
        guard noteSilence() else { return }
        timeout.backOff()
        switch state {
        case .shutdownSent: sendShutdown()
        case .shutdownAckSent: sendShutdownAcknowledgement()
        default: break
        }
    }

    mutating func handleShutdown(_ chunk: SCTPRawChunk) {
        guard let point = chunk.value.getInteger(at: chunk.value.readerIndex, as: UInt32.self) else { return }
        switch state {
        case .established, .shutdownPending, .shutdownReceived:
            state = .shutdownReceived
            timers.reconfiguration = nil
            // It acknowledges like a SACK without gaps; the window is unchanged.
            handleAcknowledgement(
                SCTPAcknowledgement(cumulativeTSN: point, window: UInt32(clamping: remote?.window ?? 0)))
        case .shutdownSent:
            // Both sides shut down at the same time (§9.2).
            state = .shutdownAckSent
            sendShutdownAcknowledgement()
        case .shutdownAckSent:
            sendShutdownAcknowledgement()
        case .closed, .cookieWait, .cookieEchoed, .ended:
            break
        }
    }

    mutating func handleShutdownAcknowledgement() {
        guard state == .shutdownSent || state == .shutdownAckSent, let remote else { return }
        sendAlone(SCTPChunkWriter.chunk(SCTPChunkType.shutdownComplete), tag: remote.tag)
        end(nil)
    }
}
