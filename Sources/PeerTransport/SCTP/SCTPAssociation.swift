import IoTCore
import NIOCore

/// One SCTP association over DTLS (RFC 9260, RFC 8261), with the features that WebRTC's data channels need.
///
/// Owns no socket, clock, task or logger. After each call, drain `nextPacket` and `nextEvent`; call `handleTimeout` at
/// `nextDeadline`. There is one path, and DTLS has authenticated the peer. So there is no multihoming and no path MTU
/// discovery, and nothing is sent to strangers. docs/data-channels.md lists the deviations.
struct SCTPAssociation {
    enum State: Equatable {
        case closed
        case cookieWait
        case cookieEchoed
        case established
        case shutdownPending
        case shutdownSent
        case shutdownReceived
        case shutdownAckSent
        case ended
    }

    /// The peer's parameters.
    struct Remote {
        var tag: UInt32
        var window: Int
        /// The streams that we may use, and those that the peer may use.
        var outgoingStreams: UInt16
        var incomingStreams: UInt16
        var supportsForwardTSN: Bool
        var supportsReconfiguration: Bool
    }

    struct Timers {
        /// T1-init and T1-cookie.
        var handshake: NIODeadline?
        /// T3-rtx.
        var retransmission: NIODeadline?
        var acknowledgement: NIODeadline?
        /// T2-shutdown.
        var shutdown: NIODeadline?
        /// T5-shutdown-guard.
        var shutdownGuard: NIODeadline?
        var reconfiguration: NIODeadline?
        var heartbeat: NIODeadline?

        var next: NIODeadline? {
            [handshake, retransmission, acknowledgement, shutdown, shutdownGuard, reconfiguration, heartbeat]
                .compactMap { $0 }.min()
        }
    }

    /// The bytes that each queued message counts in addition to its size.
    static let messageOverhead = 128
    static let maximumControlChunks = 64

    let configuration: SCTPConfiguration
    let cookieKey: [UInt8]
    var generator: any RandomNumberGenerator

    var state = State.closed
    var now: NIODeadline
    var localTag: UInt32
    var localTSN: UInt32
    var remote: Remote?
    var timers = Timers()

    var outbox: OutgoingQueue
    var flight: Flight
    var congestion: CongestionControl
    var timeout: RetransmissionTimeout
    var received: ReceivedNumbers
    var reassembly: Reassembly
    var resets: StreamResets

    /// Complete packets, which are sent first, and chunks for the next packet.
    var packets: CircularBuffer<ByteBuffer> = []
    var control: CircularBuffer<ByteBuffer> = []
    var events: CircularBuffer<SCTPEvent> = []

    /// The COOKIE ECHO while it waits for its reply.
    var cookieEcho: ByteBuffer?
    var initiationSentAt: NIODeadline?
    var handshakeRetransmissions = 0

    /// Consecutive timeouts without a response (RFC 9260 §8.1).
    var errorCount = 0
    var nextMessageID = 0

    /// Data packets since the last SACK, and whether a SACK is due now.
    var unacknowledgedPackets = 0
    var isAcknowledgementDue = false

    /// True when a fast retransmission may send one packet beyond the window.
    var isFastRetransmissionDue = false
    var isForwardDue = false
    var forwardSentAt = NIODeadline.uptimeNanoseconds(0)
    var lastDataSentAt: NIODeadline?
    var burst = 0
    var heartbeat: (nonce: UInt64, sentAt: NIODeadline)?
    var counters = SCTPCounters()

    init(configuration: SCTPConfiguration, generator: any RandomNumberGenerator, now: NIODeadline) {
        var generator = generator
        self.configuration = configuration
        self.now = now
        cookieKey = (0..<32).map { _ in .random(in: .min ... .max, using: &generator) }
        localTag = .random(in: 1 ... .max, using: &generator)
        localTSN = .random(in: .min ... .max, using: &generator)
        self.generator = generator
        let segment = configuration.maximumPacketSize - SCTPPacket.headerSize - SCTPDataChunk.headerSize
        outbox = OutgoingQueue(overhead: Self.messageOverhead)
        flight = Flight(initialTSN: localTSN, overhead: Self.messageOverhead)
        congestion = CongestionControl(segment: segment, threshold: configuration.receiveWindow)
        timeout = RetransmissionTimeout(configuration)
        received = ReceivedNumbers(initialTSN: 0, configuration: configuration)
        reassembly = Reassembly(configuration)
        resets = StreamResets(nextSequence: localTSN, expectedSequence: 0)
    }

    // MARK: Requests

    /// Sends INIT. Both sides may: the two handshakes end in one association (RFC 9260 §5.2.1).
    mutating func connect(at time: NIODeadline) {
        guard state == .closed else { return }
        now = max(now, time)
        state = .cookieWait
        sendInitiation()
    }

    /// Queues one message.
    ///
    /// - Parameter isBounded: false for the few messages that must not be refused when the buffer is full.
    /// - Throws: `channelDisconnected` while the association is not established, `channelSendFailed` when the buffer is
    ///   full, `invalidParameter` for an unusable stream or an empty message.
    mutating func send(
        _ payload: ByteBuffer, on stream: UInt16, payloadProtocol: UInt32, isUnordered: Bool = false,
        reliability: SCTPReliability = .reliable, isBounded: Bool = true, at time: NIODeadline
    ) throws(IoTError) {
        now = max(now, time)
        guard state == .established, let remote else {
            throw IoTError(.channelDisconnected, "there is no association with the peer")
        }
        guard stream < remote.outgoingStreams, payload.readableBytes > 0, !resets.isPending(stream) else {
            throw IoTError(.invalidParameter, "stream \(stream) cannot be used")
        }
        let size = payload.readableBytes + Self.messageOverhead
        guard !isBounded || sendCharge == 0 || sendCharge + size <= configuration.maximumSendBuffer else {
            throw IoTError(.channelSendFailed, "the send buffer is full: wait until less is buffered")
        }
        outbox.append(
            OutgoingMessage(
                id: nextMessageID, stream: stream, payloadProtocol: payloadProtocol, isUnordered: isUnordered,
                reliability: reliability, payload: payload))
        nextMessageID += 1
        burst = configuration.maximumBurst
    }

    /// Bytes that wait or are not acknowledged, plus the overhead of each message.
    var sendCharge: Int { outbox.charge + flight.charge }

    /// Resets the streams once all data sent in them are acknowledged (RFC 6525 §5.1.2).
    mutating func resetStreams(_ streams: [UInt16], at time: NIODeadline) {
        now = max(now, time)
        guard state == .established else { return }
        for stream in streams { resets.wait(for: stream) }
    }

    /// Shuts the association down gracefully: queued data are still sent (RFC 9260 §9.2).
    mutating func shutdown(at time: NIODeadline) {
        now = max(now, time)
        switch state {
        case .established:
            state = .shutdownPending
            timers.shutdownGuard = now + .nanoseconds(configuration.maximumTimeout.nanoseconds * 5)
            progressShutdown()
        case .closed, .cookieWait, .cookieEchoed:
            abort(at: time)
        case .shutdownPending, .shutdownSent, .shutdownReceived, .shutdownAckSent, .ended:
            break
        }
    }

    /// Aborts the association at once.
    mutating func abort(at time: NIODeadline) {
        now = max(now, time)
        abort(cause: SCTPErrorCause.userAbort, error: nil)
    }

    // MARK: Output

    mutating func nextEvent() -> SCTPEvent? {
        events.popFirst()
    }

    var nextDeadline: NIODeadline? {
        timers.next
    }

    // MARK: Ending

    /// Sends ABORT to the peer, if there is one, and ends.
    mutating func abort(cause: UInt16, error: IoTError?) {
        guard state != .ended else { return }
        if let remote {
            sendAlone(SCTPChunkWriter.failure(SCTPChunkType.abort, cause: cause), tag: remote.tag)
        }
        end(error)
    }

    mutating func end(_ error: IoTError?) {
        guard state != .ended else { return }
        state = .ended
        timers = Timers()
        control = []
        cookieEcho = nil
        outbox = OutgoingQueue(overhead: Self.messageOverhead)
        flight = Flight(initialTSN: localTSN, overhead: Self.messageOverhead)
        reassembly = Reassembly(configuration)
        resets = StreamResets(nextSequence: 0, expectedSequence: 0)
        events.append(.ended(error))
    }

    /// Sends one chunk in its own packet.
    mutating func sendAlone(_ chunk: ByteBuffer, tag: UInt32) {
        guard packets.count < Self.maximumControlChunks else { return }
        var writer = SCTPPacketWriter(configuration, tag: tag)
        guard writer.append(chunk) else { return }
        packets.append(writer.finish())
    }

    /// Adds a chunk to the next packet.
    mutating func sendControl(_ chunk: ByteBuffer) {
        guard control.count < Self.maximumControlChunks else { return }
        control.append(chunk)
    }
}

/// The counters of an association; they only grow.
struct SCTPCounters: Equatable {
    var packetsSent: UInt64 = 0
    var packetsReceived: UInt64 = 0
    /// Packets with other ports or tags, malformed ones, or ones with a wrong checksum.
    var packetsInvalid: UInt64 = 0
    var chunksRetransmitted: UInt64 = 0
    var chunksDuplicate: UInt64 = 0
    /// Chunks that were dropped because a limit was reached; the peer sends them again.
    var chunksRefused: UInt64 = 0
    var messagesAbandoned: UInt64 = 0
    var timeouts: UInt64 = 0
}
