import IoTCore
public import NIOCore

/// Sends one track to one viewer: assigns sequence numbers, makes sender reports and handles the viewer's feedback.
///
/// Owns no socket, clock or packet. Sequence numbers on the wire are contiguous even if some of the track's packets are
/// not sent, so that packets left out on purpose never look lost. Only a picture whose rest is not sent is followed by a
/// gap: without it, the viewer would decode the incomplete picture.
public struct RTPSender: Sendable {
    /// A request from the viewer over RTCP.
    public enum Event: Sendable, Hashable {
        /// The track sequences to send again with `writeAgain`, in the order of the request.
        case retransmissionRequested([Int64])
        case keyFrameRequested
    }

    /// The stream for retransmissions (RFC 4588).
    public struct Retransmission: Sendable, Hashable {
        public var payloadType: UInt8
        public var ssrc: UInt32
        public var nextSequenceNumber: UInt16

        /// - Parameter initialSequenceNumber: random by default.
        public init(payloadType: UInt8, ssrc: UInt32, initialSequenceNumber: UInt16 = .random(in: 0...0x7FFF)) {
            self.payloadType = payloadType
            self.ssrc = ssrc
            self.nextSequenceNumber = initialSequenceNumber
        }
    }

    public let codec: RTPCodec
    public let ssrc: UInt32
    public let canonicalName: String
    public package(set) var statistics = RTPSenderStatistics()

    /// `nil` if lost packets are sent again unchanged.
    public private(set) var retransmission: Retransmission?

    private var nextSequenceNumber: UInt16
    package let timestamps: RTPTimestamps

    /// The track sequences of the last packets, indexed by the low bits of their sequence numbers on the wire; −1 for
    /// none. Empty if lost packets are not sent again.
    private var trackSequences: [Int64]
    static let historyLength = 2_048
    private var repairs = RepairBudget()
    private var lost = LostPackets()

    /// The highest track sequence in the history.
    private var newestTrackSequence: Int64 = -1
    private let isVideo: Bool
    /// Whether the rest of the last picture was not sent yet.
    private var isPictureIncomplete = false

    private var reportedPackets: UInt32 = 0
    private var reportedOctets: UInt32 = 0
    @usableFromInline var nextReport: NIODeadline?
    private var lastFullIntraRequest: UInt8?

    /// The times of the last reports, by the middle bits of their NTP times: for the round-trip time.
    private var sentReports: [(middle: UInt32, time: NIODeadline)] = []

    private let reportInterval: TimeAmount

    /// - Parameters:
    ///   - canonicalName: the CNAME that all streams of this peer share.
    ///   - retransmission: the retransmission stream; `nil` to send lost packets again unchanged.
    ///   - keepsHistory: whether lost packets can be sent again. The history takes 16 KB.
    ///   - initialSequenceNumber: random by default, see `initialSequenceNumber(using:)`.
    ///   - timestampOffset: added to every timestamp; random by default.
    public init(
        codec: RTPCodec, ssrc: UInt32, canonicalName: String, retransmission: Retransmission? = nil,
        initialSequenceNumber: UInt16 = .random(in: 0...0x7FFF), timestampOffset: UInt32 = .random(in: 0 ... .max),
        keepsHistory: Bool = true, reportInterval: TimeAmount = .seconds(1)
    ) {
        self.codec = codec
        self.ssrc = ssrc
        self.canonicalName = canonicalName
        self.nextSequenceNumber = initialSequenceNumber
        self.timestamps = RTPTimestamps(clock: RTPClock(rate: codec.clockRate), offset: timestampOffset)
        self.isVideo = codec.format?.kind == .video
        self.trackSequences = keepsHistory ? Array(repeating: -1, count: Self.historyLength) : []
        self.reportInterval = reportInterval
        self.retransmission = retransmission
        statistics.ssrc = ssrc
        statistics.rtxSSRC = retransmission?.ssrc
    }

    /// A random number (RFC 3550 §5.1) in the lower half, so that SRTP's roll-over counter is not misjudged if the
    /// first packets are lost (RFC 3711 §3.3.1).
    package static func initialSequenceNumber(using generator: inout any RandomNumberGenerator) -> UInt16 {
        .random(in: 0...0x7FFF, using: &generator)
    }

    /// The sequence number of the next packet.
    package var upcomingSequenceNumber: UInt16 { nextSequenceNumber }

    /// The RTP timestamp for a time in µs on the source's clock.
    package func timestamp(ofMicroseconds pts: Int64) -> UInt32 { timestamps.timestamp(ofMicroseconds: pts) }

    /// Appends the packet with this viewer's header to `buffer`, ready for SRTP.
    public mutating func write(_ packet: MediaPacket, into buffer: inout ByteBuffer, at now: NIODeadline) {
        write(packet, nil, into: &buffer, at: now)
    }

    /// - Returns: the packet's sequence number on the wire.
    @discardableResult
    package mutating func write(
        _ packet: MediaPacket, _ headerExtension: OutgoingHeaderExtension?, into buffer: inout ByteBuffer,
        at now: NIODeadline
    ) -> UInt16 {
        if packet.sequence != newestTrackSequence + 1 { abandonPicture() }
        isPictureIncomplete = isVideo && !packet.marker
        let number = nextSequenceNumber
        nextSequenceNumber &+= 1
        // The track restarts at an earlier sequence. Forget the history, because a packet with an old sequence may now
        // have another timestamp and must not be sent again under its old number.
        if packet.sequence <= newestTrackSequence { forgetHistory() }
        newestTrackSequence = packet.sequence
        if !lost.isEmpty, Int(number) % Self.historyLength == 0 {
            lost.trim(next: nextSequenceNumber, length: Self.historyLength)
        }
        note(number, of: packet.sequence..<packet.sequence + 1)
        let start = buffer.writerIndex
        writeHeader(
            packet, payloadType: codec.payloadType, number, ssrc: ssrc, headerExtension, into: &buffer)
        buffer.writeImmutableBuffer(packet.payload)
        count(packet, headerSize: buffer.writerIndex - start - packet.payload.readableBytes)
        reportedPackets &+= 1
        reportedOctets &+= UInt32(truncatingIfNeeded: packet.payload.readableBytes)
        if packet.marker { statistics.framesSent += 1 }
        if packet.isKeyFrameStart { statistics.keyFramesSent += 1 }
        if nextReport == nil { nextReport = now }
        return number
    }

    /// Counts the packets of a run, for which the caller writes this viewer's headers.
    ///
    /// - Returns: the sequence number of the first packet.
    package mutating func send(_ run: PacketRun, at now: NIODeadline) -> UInt16 {
        let sequences = run.sequences
        if sequences.lowerBound != newestTrackSequence + 1 { abandonPicture() }
        isPictureIncomplete = isVideo && !run.endsFrame
        let number = nextSequenceNumber
        nextSequenceNumber &+= UInt16(truncatingIfNeeded: sequences.count)
        if sequences.lowerBound <= newestTrackSequence { forgetHistory() }
        newestTrackSequence = sequences.upperBound - 1
        if !lost.isEmpty { lost.trim(next: nextSequenceNumber, length: Self.historyLength) }
        note(number, of: sequences)
        statistics.packetsSent += UInt64(sequences.count)
        statistics.bytesSent += UInt64(run.payloadByteCount)
        statistics.headerBytesSent += UInt64(sequences.count * RTPPacket.minimumHeaderSize)
        statistics.framesSent += UInt64(run.markerCount)
        statistics.keyFramesSent += UInt64(run.keyFrameCount)
        reportedPackets &+= UInt32(truncatingIfNeeded: sequences.count)
        reportedOctets &+= UInt32(truncatingIfNeeded: run.payloadByteCount)
        if nextReport == nil { nextReport = now }
        return number
    }

    private mutating func note(_ number: UInt16, of sequences: Range<Int64>) {
        guard !trackSequences.isEmpty else { return }
        trackSequences.withUnsafeMutableBufferPointer { history in
            var place = Int(number)
            for sequence in sequences {
                history[place % Self.historyLength] = sequence
                place &+= 1
            }
        }
        repairs.sent(number, count: sequences.count)
    }

    /// The rest of the last picture will not be sent: leaves a gap in the sequence numbers if it is incomplete.
    package mutating func abandonPicture() {
        guard isPictureIncomplete else { return }
        isPictureIncomplete = false
        if !trackSequences.isEmpty { trackSequences[Int(nextSequenceNumber) % Self.historyLength] = -1 }
        nextSequenceNumber &+= 1
    }

    private mutating func forgetHistory() {
        for index in trackSequences.indices { trackSequences[index] = -1 }
        lost.removeAll()
    }

    /// Whether the track's packet is among the last 2048 sent, so that `writeAgain` can repeat it.
    public func hasSent(trackSequence: Int64) -> Bool {
        sequenceNumber(ofTrackSequence: trackSequence) != nil
    }

    /// Appends a packet again that `write` has written: in the retransmission stream, after its original sequence
    /// number, or otherwise unchanged under that number.
    ///
    /// - Returns: false if the packet is not among the last 2048 sent; nothing is written then.
    public mutating func writeAgain(_ packet: MediaPacket, into buffer: inout ByteBuffer) -> Bool {
        writeAgain(packet, nil, into: &buffer)
    }

    /// - Parameter headerExtension: used only in the retransmission stream. SRTP must not encrypt two packets with one
    ///   sequence number and different headers.
    package mutating func writeAgain(
        _ packet: MediaPacket, _ headerExtension: OutgoingHeaderExtension?, into buffer: inout ByteBuffer
    ) -> Bool {
        guard let number = sequenceNumber(ofTrackSequence: packet.sequence) else { return false }
        let start = buffer.writerIndex
        if let repairs = retransmission {
            retransmission?.nextSequenceNumber &+= 1
            writeHeader(
                packet, payloadType: repairs.payloadType, repairs.nextSequenceNumber, ssrc: repairs.ssrc,
                headerExtension, into: &buffer)
            // RFC 4588 §4: the original sequence number precedes the payload.
            buffer.writeInteger(number)
        } else {
            writeHeader(packet, payloadType: codec.payloadType, number, ssrc: ssrc, nil, into: &buffer)
            reportedPackets &+= 1
            reportedOctets &+= UInt32(truncatingIfNeeded: packet.payload.readableBytes)
        }
        buffer.writeImmutableBuffer(packet.payload)
        count(packet, headerSize: buffer.writerIndex - start - packet.payload.readableBytes)
        statistics.retransmittedPacketsSent += 1
        statistics.retransmittedBytesSent += UInt64(packet.payload.readableBytes)
        return true
    }

    private func writeHeader(
        _ packet: MediaPacket, payloadType: UInt8, _ number: UInt16, ssrc: UInt32,
        _ headerExtension: OutgoingHeaderExtension?, into buffer: inout ByteBuffer
    ) {
        let start = buffer.writerIndex
        RTPPacket.writeFixedHeader(
            payloadType: payloadType, marker: packet.marker, sequenceNumber: number,
            timestamp: packet.timestamp &+ timestamps.offset, ssrc: ssrc, into: &buffer)
        if headerExtension?.write(into: &buffer) == true { buffer.setInteger(UInt8(0x90), at: start) }
    }

    private mutating func count(_ packet: MediaPacket, headerSize: Int) {
        statistics.packetsSent += 1
        statistics.bytesSent += UInt64(packet.payload.readableBytes)
        statistics.headerBytesSent += UInt64(headerSize)
    }

    /// The sequence number on the wire of a track's packet. Track sequences ascend on the wire, so this is a binary
    /// search.
    package func sequenceNumber(ofTrackSequence sequence: Int64) -> UInt16? {
        var low = 1
        var high = trackSequences.count
        while low <= high {
            let age = (low + high) / 2
            let number = nextSequenceNumber &- UInt16(age)
            let candidate = trackSequences[Int(number) % Self.historyLength]
            if candidate == sequence { return number }
            // Unused slots are the oldest.
            if candidate > sequence { low = age + 1 } else { high = age - 1 }
        }
        return nil
    }

    /// The track sequence of the packet sent under `number`; `nil` if it was never sent or is too old.
    private func trackSequence(ofSequenceNumber number: UInt16) -> Int64? {
        let age = nextSequenceNumber &- number
        guard age >= 1, Int(age) <= trackSequences.count else { return nil }
        let sequence = trackSequences[Int(number) % Self.historyLength]
        return sequence >= 0 ? sequence : nil
    }
}

// MARK: Sender reports (RFC 3550 §6.4.1)

extension RTPSender {
    /// When the next report is due; `nil` before the first packet.
    @inlinable public var reportDeadline: NIODeadline? { nextReport }

    /// Makes the next report due at once, because the clock mapping in the last one is no longer valid.
    public mutating func clockChanged(at now: NIODeadline) {
        if nextReport != nil { nextReport = now }
    }

    /// The report that is due: SR and SDES, to send as one compound packet. `nil` before `reportDeadline`.
    ///
    /// - Parameters:
    ///   - wallClock: the current time in µs since 1970.
    ///   - anchor: the same for all senders of the peer.
    public mutating func report(
        at now: NIODeadline, wallClock: Int64, anchor: MediaClockAnchor
    ) -> [RTCPPacket]? {
        guard let due = nextReport, now >= due else { return nil }
        nextReport = now + reportInterval
        let ntp = NTPTime.timestamp(microseconds: wallClock)
        let pts = anchor.pts &+ (wallClock &- anchor.wallClock)
        sentReports.append((NTPTime.middle(ntp), now))
        if sentReports.count > 16 { sentReports.removeFirst() }
        return [
            .senderReport(
                RTCPSenderReport(
                    ssrc: ssrc, ntpTimestamp: ntp,
                    rtpTimestamp: timestamp(ofMicroseconds: pts),
                    packetCount: reportedPackets, octetCount: reportedOctets)),
            .sourceDescription(RTCPSourceDescription(chunks: [.init(ssrc: ssrc, canonicalName: canonicalName)])),
        ]
    }

    /// The packet that ends this stream.
    public func goodbye() -> RTCPPacket {
        .goodbye(RTCPGoodbye(ssrcs: [ssrc] + (retransmission.map { [$0.ssrc] } ?? [])))
    }
}

// MARK: Feedback

extension RTPSender {
    /// Processes one RTCP packet from the viewer. Feedback for other streams is ignored.
    public mutating func handle(_ packet: RTCPPacket, at now: NIODeadline) -> [Event] {
        switch packet {
        case .receiverReport(let report):
            report.reports.forEach { take($0, at: now) }
        case .senderReport(let report):
            report.reports.forEach { take($0, at: now) }
        case .genericNACK(let nack) where nack.mediaSSRC == ssrc:
            statistics.nackCount += 1
            let sequences = nack.lostSequenceNumbers.compactMap { number -> Int64? in
                guard let sequence = trackSequence(ofSequenceNumber: number) else { return nil }
                lost.noteRequested(number, at: now)
                guard repairs.grant(number, roundTrip: statistics.roundTripTime, at: now)
                else { return nil }
                return sequence
            }
            return sequences.isEmpty ? [] : [.retransmissionRequested(sequences)]
        case .pictureLossIndication(let indication) where indication.mediaSSRC == ssrc:
            statistics.pliCount += 1
            return [.keyFrameRequested]
        case .fullIntraRequest(let request):
            guard let entry = request.entries.first(where: { $0.ssrc == ssrc }) else { break }
            statistics.firCount += 1
            // RFC 5104 §4.3.1.1: a repeated request has the same number.
            guard entry.sequenceNumber != lastFullIntraRequest else { break }
            lastFullIntraRequest = entry.sequenceNumber
            return [.keyFrameRequested]
        default: break
        }
        return []
    }

    /// Records what transport-wide feedback reports for a packet with this number, or for its retransmission.
    package mutating func noteDelivery(ofSequenceNumber number: UInt16, hasArrived: Bool) {
        guard trackSequence(ofSequenceNumber: number) != nil else { return }
        if hasArrived { lost.noteArrived(number) } else { lost.noteLost(number) }
    }

    /// The track sequences that the viewer lacks among the last 2048 sent, ascending.
    public func undelivered(at now: NIODeadline) -> [Int64] {
        lost.lacking(at: now).compactMap(trackSequence).sorted()
    }

    /// The packets among `sequences` that may be sent again, by the same budget as for NACKs.
    package mutating func grantRepairs(_ sequences: [Int64], at now: NIODeadline) -> [Int64] {
        sequences.filter { sequence in
            sequenceNumber(ofTrackSequence: sequence).map {
                repairs.grant($0, roundTrip: statistics.roundTripTime, at: now)
            } ?? false
        }
    }

    private mutating func take(_ report: RTCPReceptionReport, at now: NIODeadline) {
        guard report.ssrc == ssrc else { return }
        statistics.reportsReceived += 1
        statistics.fractionLost = Double(report.fractionLost) / 256
        statistics.packetsLost = Int64(report.cumulativeLost)
        statistics.jitter = Double(report.jitter) / Double(timestamps.clock.rate)
        guard report.lastSenderReport != 0,
            let sent = sentReports.last(where: { $0.middle == report.lastSenderReport })
        else { return }
        // RFC 3550 §6.4.1, but with monotonic times instead of NTP, so that setting the clock has no effect.
        let held = Int64(report.delaySinceLastSenderReport) * 1_000_000_000 / 65_536
        let elapsed = (now - sent.time).nanoseconds
        let roundTrip = TimeAmount.nanoseconds(max(elapsed - held, 0))
        statistics.roundTripTime = roundTrip
        statistics.totalRoundTripTime = statistics.totalRoundTripTime + roundTrip
        statistics.roundTripTimeMeasurements += 1
    }
}
