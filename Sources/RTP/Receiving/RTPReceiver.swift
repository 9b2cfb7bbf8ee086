public import IoTCore
public import NIOCore

/// Receives one track over a lossy, reordering link: packets in, whole frames and feedback out.
///
/// Packets are put into sequence order; a gap that reordering does not explain is asked for by NACK, again after each
/// round trip, and given up at last: then `.frameLost` comes in the order of the frames, and a key frame is asked for.
///
/// Owns no socket, clock or task. After each call drain `poll()` until it gives `.timeout` or `nil`.
public struct RTPReceiver: Sendable {
    public let configuration: RTPReceiverConfiguration
    public package(set) var statistics = RTPReceiverStatistics()

    /// The section's codecs that are ours.
    let codecs: [RTPCodec]
    let kind: MediaKind

    var stream: IncomingStream?
    var candidate = SourceCandidate()
    var timestamps = SequenceUnwrapper<UInt32>()

    /// The source that `timestamps` follows; a sender report may come before the first packet.
    var timestampSource: UInt32?

    var estimator: RoundTripEstimator
    var losses = LossEstimator()
    var keyFrameRequests: KeyFrameRequests
    var nextReport: NIODeadline?

    /// Of the next FIR: RFC 5104 §4.3.1.1.
    var nextFullIntraRequest: UInt8 = 0
    var lastSenderReport: (middle: UInt32, arrival: NIODeadline)?

    /// Packets that sources before the present one lost.
    var lostBefore: Int64 = 0

    /// The next frame is the first of a new source.
    var isDiscontinuous = false

    @usableFromInline var outputs = CircularBuffer<RTPReceiverOutput>(initialCapacity: 8)

    /// - Parameter codecs: the section's codecs; those that are not ours are left out.
    /// - Throws: `codecUnsupported` when none is ours.
    public init(codecs: [RTPCodec], configuration: RTPReceiverConfiguration) throws(IoTError) {
        self.configuration = configuration
        self.codecs = codecs.filter { $0.format != nil }
        guard let kind = self.codecs.first?.format?.kind else {
            throw IoTError(.codecUnsupported, "none of the RTP payload formats is known")
        }
        self.kind = kind
        estimator = RoundTripEstimator(initial: configuration.initialRoundTripTime)
        keyFrameRequests = KeyFrameRequests(interval: configuration.keyFrameRequestInterval)
    }

    var canRequestKeyFrames: Bool {
        kind == .video && (configuration.isPLIEnabled || configuration.isFIREnabled)
    }

    /// From when a lost packet should have come to when it does, with as many requests as are likely to be needed.
    var recoveryTime: TimeAmount {
        let rounds = losses.rounds
        return rounds > 0 ? estimator.requestDelay + estimator.repeatInterval * rounds : .zero
    }

    /// The stream's SSRC; `nil` before its first packet.
    public var remoteSSRC: UInt32? { stream?.ssrc }

    @inlinable
    public mutating func poll() -> RTPReceiverOutput? {
        if let output = outputs.popFirst() { return output }
        return deadline.map { .timeout($0) }
    }

    /// Takes one decrypted packet of this section.
    @inlinable
    public mutating func handle(_ packet: RTPPacket, at now: NIODeadline) {
        if isOfStream(packet) {
            receive(packet, at: now, now, isRepair: false)
        } else {
            for (packet, arrival) in admit(packet, at: now) { receive(packet, at: arrival, now, isRepair: false) }
        }
        if let deadline, now >= deadline { handleTimeout(at: now) }
    }

    /// Takes one decrypted packet of the stream of repairs (RFC 4588 §4). One that repairs nothing is counted only.
    ///
    /// - Parameter payloadType: that of the packet which it repairs.
    public mutating func handle(repair packet: RTPPacket, of payloadType: UInt8, at now: NIODeadline) {
        var original = packet
        // Without a payload it is there to probe the way.
        guard let ssrc = stream?.ssrc, let number = original.payload.readInteger(as: UInt16.self),
            original.payload.readableBytes > 0
        else { return }
        original.payloadType = payloadType
        original.sequenceNumber = number
        original.ssrc = ssrc
        original.headerExtension = nil
        guard isOfStream(original) else {
            statistics.packetsDiscarded += 1
            return
        }
        receive(original, at: now, now, isRepair: true)
        if let deadline, now >= deadline { handleTimeout(at: now) }
    }

    /// Does what is due at `now`.
    public mutating func handleTimeout(at now: NIODeadline) {
        endSearch(at: now)
        giveUpWhatIsOverdue(at: now)
        sendRequests(at: now)
        sendReport(at: now)
    }

    /// Asks for a key frame, no more often than the configuration allows. Nothing for sound, or before a packet came.
    public mutating func requestKeyFrame(at now: NIODeadline) {
        guard canRequestKeyFrames else { return }
        keyFrameRequests.want(at: now)
        sendRequests(at: now)
    }

    /// Takes a round-trip time that was measured elsewhere, as by ICE. From then on the answers to NACKs, of which some
    /// are late originals, no longer count.
    public mutating func update(roundTripTime: TimeAmount) {
        estimator.note(measured: roundTripTime)
        statistics.roundTripTime = estimator.smoothed
    }

    /// Takes a sender report; `nil` when it is of another stream.
    public mutating func handle(
        senderReport report: RTCPSenderReport, at now: NIODeadline
    ) -> SenderReportMapping? {
        if let ssrc = stream?.ssrc ?? timestampSource, ssrc != report.ssrc { return nil }
        if timestampSource == nil {
            timestampSource = report.ssrc
            _ = timestamps.unwrap(report.rtpTimestamp)
        }
        lastSenderReport = (NTPTime.middle(report.ntpTimestamp), now)
        return SenderReportMapping(
            ntpMicroseconds: NTPTime.microseconds(timestamp: report.ntpTimestamp),
            rtpTimestamp: timestamps.peek(report.rtpTimestamp),
            clockRate: stream?.depacketizer.codec.clockRate ?? codecs[0].clockRate)
    }
}
