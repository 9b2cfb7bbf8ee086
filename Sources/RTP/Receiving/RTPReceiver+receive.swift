import IoTCore
public import NIOCore

// MARK: Which packets belong to the stream (RFC 3550 §A.1)

extension RTPReceiver {
    /// A larger jump of the sequence number, in either direction, is a restart of the source and not a loss.
    private static let largestJump: Int64 = 3_000

    /// How many sequence numbers below the lowest packet the beginning of its key frame is searched.
    private static let searchReach: Int64 = 8

    /// How many packets of the first burst one packet may overtake. Packets further below would be lost for good,
    /// because SRTP's replay protection rejects their retransmissions.
    private static let largestOvertaking: Int64 = 1_000
    private static let searchTime = TimeAmount.milliseconds(400)

    @usableFromInline
    func isOfStream(_ packet: RTPPacket) -> Bool {
        guard let ssrc = stream?.ssrc, ssrc == packet.ssrc, let highest = stream?.highest,
            let number = stream?.sequence.peek(packet.sequenceNumber)
        else { return false }
        return abs(number - highest) <= Self.largestJump
    }

    /// The packets to receive when `packet` does not continue the stream. The first packet of all is received at once.
    /// A packet of another source, or with a distant sequence number, is received only when a second one confirms it.
    @usableFromInline
    mutating func admit(_ packet: RTPPacket, at now: NIODeadline) -> [(packet: RTPPacket, arrival: NIODeadline)] {
        guard let ssrc = stream?.ssrc else {
            start(packet, at: now, isRestart: false)
            return stream == nil ? [] : [(packet, now)]
        }
        guard let arrivals = candidate.take(packet, at: now) else { return [] }
        // The old source's unfinished frame is lost.
        loseFrame(at: now)
        start(arrivals[0].packet, at: now, isRestart: packet.ssrc == ssrc)
        return arrivals
    }

    private mutating func start(_ packet: RTPPacket, at now: NIODeadline, isRestart: Bool) {
        // The stream can only start with a known payload type.
        guard let codec = codec(of: packet.payloadType) ?? stream?.depacketizer.codec,
            let depacketizer = try? Depacketizer(codec: codec)
        else {
            statistics.packetsDiscarded += 1
            return
        }
        if timestampSource != packet.ssrc {
            timestamps = SequenceUnwrapper()
            lastSenderReport = nil
            timestampSource = packet.ssrc
        }
        isDiscontinuous = stream != nil && !isRestart
        lostBefore += stream?.reception.lost ?? 0
        candidate.clear()
        statistics.ssrc = packet.ssrc
        var stream = IncomingStream(ssrc: packet.ssrc, first: packet.sequenceNumber, depacketizer: depacketizer)
        if isRestart { stream.depacketizer.skipGap() }
        if kind == .video, !isRestart, !stream.depacketizer.isDecodingStart(packet.payload) {
            beginSearch(&stream, at: now)
        }
        self.stream = stream
        if nextReport == nil { nextReport = now + configuration.reportInterval }
    }

    private func beginSearch(_ stream: inout IncomingStream, at now: NIODeadline) {
        guard configuration.isNACKEnabled else {
            stream.searchEnd = now + configuration.reorderingTolerance
            return
        }
        stream.searchEnd = now + Self.searchTime
        stream.missing.append(
            (stream.next - Self.searchReach)..<stream.next, detected: now, due: now + estimator.requestDelay)
    }

    func codec(of payloadType: UInt8) -> RTPCodec? {
        codecs.first { $0.payloadType == payloadType }
    }
}

// MARK: Order

extension RTPReceiver {
    /// Sorts a packet into the stream. `now` is later than `arrival` if the packet was held back.
    @usableFromInline
    mutating func receive(
        _ packet: RTPPacket, at arrival: NIODeadline, _ now: NIODeadline, isRepair: Bool
    ) {
        guard var stream = self.stream.take() else { return }
        defer {
            statistics.packetsLost = lostBefore + stream.reception.lost
            statistics.jitter = stream.reception.jitterSeconds
            self.stream = stream
        }
        let number = stream.sequence.peek(packet.sequenceNumber)
        let timestamp = timestamps.unwrap(packet.timestamp)
        count(packet, isRepair: isRepair, at: arrival)

        let awaited = stream.missing.remove(number)
        // RFC 4588 §6.3: retransmissions do not count in the media stream's statistics.
        if !isRepair {
            let isRetransmission = (awaited?.attempts ?? 0) > 0
            stream.reception.note(
                number: number, timestamp: timestamp, arrival: arrival, isTimely: !isRetransmission)
        }
        losses.note(isLost: awaited.map { measure($0, arrival, isRepair: isRepair) } ?? false)

        if number > stream.highest {
            _ = stream.sequence.unwrap(packet.sequenceNumber)
            noteGap(before: number, in: &stream, at: now)
            stream.highest = number
        } else if awaited == nil, !isNewBelow(number, in: &stream) {
            return
        }

        let isKnown = codecs.contains { $0.payloadType == packet.payloadType }
        if !isKnown { statistics.packetsDiscarded += 1 }
        let entry = IncomingStream.Packet(
            payload: isKnown ? packet.payload : nil, payloadType: packet.payloadType, marker: packet.marker,
            timestamp: timestamp, arrival: arrival)
        if stream.searchEnd != nil {
            stream.waiting.insert(entry, at: number)
            if number < stream.next {
                let due = now + estimator.requestDelay
                stream.missing.prepend((number + 1)..<stream.next, detected: now, due: due)
                // The first packet to arrive may have overtaken many of the key frame's packets.
                stream.missing.prepend((number - Self.searchReach)..<number, detected: now, due: due)
                stream.next = number
            }
            search(&stream, at: now)
            if stream.highest - stream.next >= Int64(configuration.maximumBufferedPackets) {
                failSearch(&stream, at: now)
            }
        } else if number == stream.next {
            stream.next += 1
            deliver(entry, of: &stream, at: now)
            drain(&stream, at: now)
        } else {
            stream.waiting.insert(entry, at: number)
            while stream.highest - stream.next >= Int64(configuration.maximumBufferedPackets) {
                giveUpFirstGap(of: &stream, at: now)
            }
        }
    }

    private mutating func count(_ packet: RTPPacket, isRepair: Bool, at arrival: NIODeadline) {
        let size = UInt64(packet.payload.readableBytes)
        statistics.packetsReceived += 1
        statistics.bytesReceived += size
        statistics.headerBytesReceived += UInt64(packet.headerByteCount + (isRepair ? 2 : 0))
        statistics.lastPacketReceived = arrival
        if isRepair {
            statistics.retransmittedPacketsReceived += 1
            statistics.retransmittedBytesReceived += size
        }
    }

    /// Updates the estimates with a missing packet's arrival. True if the packet was lost and not only late.
    private mutating func measure(
        _ awaited: MissingPackets.Packet, _ arrival: NIODeadline, isRepair: Bool
    ) -> Bool {
        guard awaited.attempts > 0, isRepair || !configuration.hasRetransmissionStream else {
            // If retransmissions have their own stream, this is the original packet.
            estimator.note(lateness: arrival - awaited.detected)
            return false
        }
        if !isRepair { statistics.retransmittedPacketsReceived += 1 }
        // Only the answer to a single request gives a valid round-trip time (Karn's algorithm).
        guard awaited.attempts == 1 else { return true }
        if isRepair {
            estimator.note(answer: arrival - awaited.lastRequest)
            statistics.roundTripTime = estimator.smoothed
            return true
        }
        guard estimator.note(possibleAnswer: arrival - awaited.lastRequest) else {
            estimator.note(lateness: arrival - awaited.detected)
            return false
        }
        statistics.roundTripTime = estimator.smoothed
        return true
    }

    /// Whether a packet that is neither missing nor the newest is useful: only while the beginning is searched.
    private mutating func isNewBelow(_ number: Int64, in stream: inout IncomingStream) -> Bool {
        if let index = stream.givenUp.lastIndex(of: number) {
            stream.givenUp.remove(at: index)
            statistics.packetsDiscarded += 1
            return false
        }
        if stream.searchEnd != nil, number < stream.next, stream.next - number <= Self.largestOvertaking {
            return true
        }
        statistics.packetsDuplicated += 1
        return false
    }

    private mutating func noteGap(before number: Int64, in stream: inout IncomingStream, at now: NIODeadline) {
        let gap = (stream.highest + 1)..<number
        guard !gap.isEmpty else { return }
        stream.missing.append(gap, detected: now, due: now + estimator.requestDelay)
        while stream.missing.count > configuration.maximumMissingPackets {
            // Too many packets are missing to recover all: the oldest gap is given up.
            stream.highest = number
            if stream.searchEnd != nil { failSearch(&stream, at: now) }
            giveUpFirstGap(of: &stream, at: now)
        }
    }

    private mutating func drain(_ stream: inout IncomingStream, at now: NIODeadline) {
        while stream.waiting.count > 0, let entry = stream.waiting.remove(stream.next) {
            stream.next += 1
            deliver(entry, of: &stream, at: now)
        }
    }

    private mutating func deliver(
        _ packet: IncomingStream.Packet, of stream: inout IncomingStream, at now: NIODeadline
    ) {
        guard let payload = packet.payload else { return }
        if packet.payloadType != stream.depacketizer.codec.payloadType, let codec = codec(of: packet.payloadType),
            let depacketizer = try? Depacketizer(codec: codec)
        {
            stream.depacketizer = depacketizer
        }
        for output in stream.depacketizer.receive(
            payload, marker: packet.marker, timestamp: packet.timestamp, at: packet.arrival)
        {
            switch output {
            case .frame(var received):
                received.frame.isDiscontinuity = isDiscontinuous
                received.recoveryTime = recoveryTime
                isDiscontinuous = false
                statistics.framesReceived += 1
                if received.frame.isKeyFrame, kind == .video {
                    statistics.keyFramesReceived += 1
                    keyFrameRequests.satisfy()
                } else if isKeyFrameExpected {
                    requestKeyFrameAfterLoss(at: now)
                }
                isKeyFrameExpected = false
                outputs.append(.frame(received))
            case .damaged:
                statistics.framesDamaged += 1
                // libwebrtc leaves out what it has not sent of a picture when a key frame is next. That one needs no
                // request.
                isKeyFrameExpected = !packet.marker && stream.depacketizer.isDecodingStart(payload)
                noteLostFrame()
                if !isKeyFrameExpected { requestKeyFrameAfterLoss(at: now) }
            }
        }
    }

    mutating func loseFrame(at now: NIODeadline) {
        noteLostFrame()
        requestKeyFrameAfterLoss(at: now)
    }

    private mutating func noteLostFrame() {
        statistics.framesLost += 1
        outputs.append(.frameLost)
    }

    private mutating func requestKeyFrameAfterLoss(at now: NIODeadline) {
        if canRequestKeyFrames { keyFrameRequests.want(at: now) }
    }
}

// MARK: Giving up

extension RTPReceiver {
    /// Skips the first run of missing packets. A received packet always follows it.
    mutating func giveUpFirstGap(of stream: inout IncomingStream, at now: NIODeadline) {
        let start = stream.next
        while let packet = stream.missing.first, packet.number <= stream.next {
            _ = stream.missing.remove(packet.number)
            stream.remember(givenUp: packet.number)
            statistics.packetsGivenUp += 1
            stream.next = max(stream.next, packet.number + 1)
        }
        // Unreachable: each packet is either missing or received. The increment ensures that loops end in any case.
        if stream.next == start { stream.next += 1 }
        stream.depacketizer.skipGap()
        loseFrame(at: now)
        drain(&stream, at: now)
    }

    mutating func giveUpWhatIsOverdue(at now: NIODeadline) {
        guard var stream = self.stream.take() else { return }
        while stream.searchEnd == nil, let first = stream.missing.first, now >= giveUpDeadline(of: first) {
            giveUpFirstGap(of: &stream, at: now)
        }
        self.stream = stream
    }

    /// When the first missing packet, which holds back all others, is given up.
    func giveUpDeadline(of first: MissingPackets.Packet) -> NIODeadline {
        guard configuration.isNACKEnabled else { return first.detected + configuration.reorderingTolerance }
        let oldest = first.detected + configuration.giveUpAge
        // After the last request, `due` is when its answer should have arrived.
        return first.attempts >= configuration.maximumNACKs ? min(first.due, oldest) : oldest
    }

    /// Ends the search if the beginning of the first key frame has arrived.
    private mutating func search(_ stream: inout IncomingStream, at now: NIODeadline) {
        guard let payload = stream.waiting.value(stream.next)?.payload,
            stream.depacketizer.isDecodingStart(payload)
        else { return }
        stopSearch(&stream, at: now)
    }

    private mutating func stopSearch(_ stream: inout IncomingStream, at now: NIODeadline) {
        stream.searchEnd = nil
        stream.missing.removeAll(below: stream.next)
        drain(&stream, at: now)
    }

    private mutating func failSearch(_ stream: inout IncomingStream, at now: NIODeadline) {
        stream.depacketizer.skipGap()
        loseFrame(at: now)
        stopSearch(&stream, at: now)
    }

    mutating func endSearch(at now: NIODeadline) {
        guard let end = stream?.searchEnd, now >= end, var stream = self.stream.take() else { return }
        failSearch(&stream, at: now)
        self.stream = stream
    }
}
