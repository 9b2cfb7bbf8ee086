import IoTCore
public import NIOCore

extension RTPReceiver {
    /// Requests that are due within this time are sent together with those due now.
    private static let requestSlack = TimeAmount.milliseconds(2)

    private static let pairSpacing = TimeAmount.milliseconds(5)

    /// The most sequence numbers in one NACK: even scattered ones then fit into one datagram.
    private static let numbersPerNACK = 200

    /// The time of the next timer. Runs after every packet, so it reads `stream` in place: copying it costs more.
    @usableFromInline package var deadline: NIODeadline? {
        guard stream != nil else { return nil }
        var deadline = nextReport ?? .distantFuture
        if configuration.isNACKEnabled, let due = stream?.missing.deadline { deadline = min(deadline, due) }
        if let due = stream?.searchEnd {
            deadline = min(deadline, due)
        } else if let first = stream?.missing.first {
            deadline = min(deadline, giveUpDeadline(of: first))
        }
        if let due = keyFrameRequests.deadline { deadline = min(deadline, due) }
        return deadline
    }

    /// Sends the NACKs and key frame requests that are due.
    mutating func sendRequests(at now: NIODeadline) {
        guard let media = stream?.ssrc else { return }
        if configuration.isNACKEnabled {
            var numbers =
                stream?.missing.requests(
                    at: now, slack: Self.requestSlack, repeatAfter: estimator.repeatInterval,
                    spacing: Self.pairSpacing, limit: configuration.maximumNACKs)[...] ?? []
            while !numbers.isEmpty {
                let part = numbers.prefix(Self.numbersPerNACK)
                numbers = numbers.dropFirst(part.count)
                statistics.nackCount += 1
                send(
                    .genericNACK(
                        RTCPGenericNACK(
                            senderSSRC: configuration.localSSRC, mediaSSRC: media,
                            lostSequenceNumbers: Array(part))))
            }
        }
        guard keyFrameRequests.take(at: now) else { return }
        if configuration.isPLIEnabled {
            statistics.pliCount += 1
            send(
                .pictureLossIndication(
                    RTCPPictureLossIndication(senderSSRC: configuration.localSSRC, mediaSSRC: media)))
        } else {
            statistics.firCount += 1
            let entry = RTCPFullIntraRequest.Entry(ssrc: media, sequenceNumber: nextFullIntraRequest)
            nextFullIntraRequest &+= 1
            send(.fullIntraRequest(RTCPFullIntraRequest(senderSSRC: configuration.localSSRC, entries: [entry])))
        }
    }

    private mutating func send(_ feedback: RTCPPacket) {
        guard !configuration.isReducedSizeAllowed else {
            outputs.append(.rtcp([feedback]))
            return
        }
        outputs.append(
            .rtcp([
                .receiverReport(RTCPReceiverReport(ssrc: configuration.localSSRC)), sourceDescription, feedback,
            ]))
    }

    private var sourceDescription: RTCPPacket {
        .sourceDescription(
            RTCPSourceDescription(chunks: [
                .init(ssrc: configuration.localSSRC, canonicalName: configuration.canonicalName)
            ]))
    }

    mutating func sendReport(at now: NIODeadline) {
        guard let due = nextReport, now >= due, let ssrc = stream?.ssrc else { return }
        nextReport = now + configuration.reportInterval
        estimator.decay()
        var delay: UInt32 = 0
        if let lastSenderReport {
            // RFC 3550 §6.4.1: in units of 1/65536 s.
            let held = max((now - lastSenderReport.arrival).nanoseconds, 0)
            delay = UInt32(clamping: held / 1_000 * 65_536 / 1_000_000)
        }
        guard
            let report = stream?.reception.report(
                ssrc: ssrc, lastSenderReport: lastSenderReport?.middle ?? 0, delay: delay)
        else { return }
        outputs.append(
            .rtcp([
                .receiverReport(RTCPReceiverReport(ssrc: configuration.localSSRC, reports: [report])),
                sourceDescription,
            ]))
    }
}
