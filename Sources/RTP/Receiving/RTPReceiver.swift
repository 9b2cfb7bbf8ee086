public import IoTCore
public import NIOCore

/// Receives one track over a lossy, reordering link. It takes packets and produces whole frames and feedback.
///
/// Packets are put into sequence order. Missing packets that reordering does not explain are requested with NACKs, once
/// per round trip, and finally given up: then `.frameLost` follows in frame order, and a key frame is requested.
///
/// Owns no socket, clock or task. After each call, drain `poll()` until it returns `.timeout` or `nil`.
public struct RTPReceiver: Sendable {
    public let configuration: RTPReceiverConfiguration
    public package(set) var statistics = RTPReceiverStatistics()

    /// The section's supported codecs.
    let codecs: [RTPCodec]
    let kind: MediaKind

    var stream: IncomingStream?
    var candidate = SourceCandidate()
    var timestamps = SequenceUnwrapper<UInt32>()

    /// The source of `timestamps`; a sender report may arrive before the first packet.
    var timestampSource: UInt32?

    var estimator: RoundTripEstimator
    var losses = LossEstimator()
    var keyFrameRequests: KeyFrameRequests
    var nextReport: NIODeadline?

    /// The sequence number of the next FIR (RFC 5104 §4.3.1.1).
    var nextFullIntraRequest: UInt8 = 0
    var lastSenderReport: (middle: UInt32, arrival: NIODeadline)?

    /// Packets lost by earlier sources.
    var lostBefore: Int64 = 0

    /// The next frame is the first of a new source.
    var isDiscontinuous = false

    /// A picture was cut short, and the next one began as key frames do.
    var isKeyFrameExpected = false

    @usableFromInline var outputs = CircularBuffer<RTPReceiverOutput>(initialCapacity: 8)

    /// - Parameter codecs: the section's codecs; unsupported ones are ignored.
    /// - Throws: `codecUnsupported` if none is supported.
    public init(codecs: [RTPCodec], configuration: RTPReceiverConfiguration) throws(IoTError) {
        self.configuration = configuration
        self.codecs = codecs.filter { $0.format != nil }
        guard let kind = self.codecs.first?.format?.kind else {
            throw IoTError(.codecUnsupported, "none of the RTP payload formats is supported")
        }
        self.kind = kind
        estimator = RoundTripEstimator(initial: configuration.initialRoundTripTime)
        keyFrameRequests = KeyFrameRequests(interval: configuration.keyFrameRequestInterval)
    }

    var canRequestKeyFrames: Bool {
        kind == .video && (configuration.isPLIEnabled || configuration.isFIREnabled)
    }

    /// The time from a lost packet's expected arrival to its actual arrival, with as many requests as are likely to be
    /// needed.
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

    /// Processes one decrypted packet of this section.
    @inlinable
    public mutating func handle(_ packet: RTPPacket, at now: NIODeadline) {
        if isOfStream(packet) {
            receive(packet, at: now, now, isRepair: false)
        } else {
            for (packet, arrival) in admit(packet, at: now) { receive(packet, at: arrival, now, isRepair: false) }
        }
        if let deadline, now >= deadline { handleTimeout(at: now) }
    }

    /// Processes one decrypted packet of the retransmission stream (RFC 4588 §4). A packet that repairs nothing is only
    /// counted.
    ///
    /// - Parameter payloadType: the payload type of the original packet.
    public mutating func handle(repair packet: RTPPacket, of payloadType: UInt8, at now: NIODeadline) {
        var original = packet
        // Packets without a payload probe the path.
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

    /// Performs all actions that are due at `now`.
    public mutating func handleTimeout(at now: NIODeadline) {
        endSearch(at: now)
        giveUpWhatIsOverdue(at: now)
        sendRequests(at: now)
        sendReport(at: now)
    }

    /// Requests a key frame, no more often than the configuration allows. Does nothing for audio, or before the first
    /// packet.
    public mutating func requestKeyFrame(at now: NIODeadline) {
        guard canRequestKeyFrames else { return }
        keyFrameRequests.want(at: now)
        sendRequests(at: now)
    }

    /// Sets a round-trip time that was measured elsewhere, for example by ICE. From then on, answers to NACKs are not
    /// measured, because some of them are late originals.
    public mutating func update(roundTripTime: TimeAmount) {
        estimator.note(measured: roundTripTime)
        statistics.roundTripTime = estimator.smoothed
    }

    /// Processes a sender report; `nil` if it belongs to another stream.
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
