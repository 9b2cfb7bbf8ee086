public import IoTCore
public import NIOCore

extension RTCPPacket {
    /// Parses a compound packet (RFC 3550 §6.1) or a reduced-size one (RFC 5506) that fills `datagram`.
    ///
    /// - Throws: `peerFailed` if any packet has another version, extends past the end, or is too short for its type.
    public static func parseCompound(_ datagram: ByteBuffer) throws(IoTError) -> [RTCPPacket] {
        var rest = datagram
        var packets: [RTCPPacket] = []
        repeat {
            guard let (flags, type, words) = rest.readMultipleIntegers(as: (UInt8, UInt8, UInt16).self),
                flags >> 6 == 2, var body = rest.readSlice(length: Int(words) * 4)
            else { throw malformed }
            if flags & 0x20 != 0 {
                // RFC 3550 §6.4.1: only the last packet is padded; the last octet is the length of the padding.
                guard rest.readableBytes == 0, body.readableBytes > 0,
                    let padding = body.getInteger(at: body.writerIndex - 1, as: UInt8.self),
                    padding > 0, Int(padding) <= body.readableBytes
                else { throw malformed }
                body.moveWriterIndex(to: body.writerIndex - Int(padding))
            }
            guard let packet = parse(type: type, count: flags & 0x1F, body) else { throw malformed }
            packets.append(packet)
        } while rest.readableBytes > 0
        return packets
    }

    private static var malformed: IoTError { IoTError(.peerFailed, "an RTCP packet is malformed") }

    private static func parse(type: UInt8, count: UInt8, _ body: ByteBuffer) -> RTCPPacket? {
        var rest = body
        switch (type, count) {
        case (RTCPPacketType.senderReport, _):
            guard
                let (ssrc, ntp, rtp, packets, octets) = rest.readMultipleIntegers(
                    as: (UInt32, UInt64, UInt32, UInt32, UInt32).self),
                let reports = readReports(count, from: &rest)
            else { return nil }
            return .senderReport(
                RTCPSenderReport(
                    ssrc: ssrc, ntpTimestamp: ntp, rtpTimestamp: rtp, packetCount: packets, octetCount: octets,
                    reports: reports))
        case (RTCPPacketType.receiverReport, _):
            guard let ssrc = rest.readInteger(as: UInt32.self), let reports = readReports(count, from: &rest)
            else { return nil }
            return .receiverReport(RTCPReceiverReport(ssrc: ssrc, reports: reports))
        case (RTCPPacketType.sourceDescription, _):
            return readSourceDescription(count, from: &rest)
        case (RTCPPacketType.goodbye, _):
            return readGoodbye(count, from: &rest)
        case (RTCPPacketType.transportFeedback, RTCPPacketType.genericNACKFormat):
            return readGenericNACK(from: &rest)
        case (RTCPPacketType.payloadFeedback, RTCPPacketType.pictureLossFormat):
            guard let (sender, media) = rest.readMultipleIntegers(as: (UInt32, UInt32).self) else { return nil }
            return .pictureLossIndication(RTCPPictureLossIndication(senderSSRC: sender, mediaSSRC: media))
        case (RTCPPacketType.payloadFeedback, RTCPPacketType.fullIntraFormat):
            return readFullIntraRequest(from: &rest)
        case (RTCPPacketType.payloadFeedback, RTCPPacketType.applicationFormat)
        where RTCPReceiverEstimate.isMarked(body):
            return RTCPReceiverEstimate(reading: &rest).map { .receiverEstimate($0) }
        case (RTCPPacketType.transportFeedback, RTCPPacketType.transportWideFormat):
            return RTCPTransportWideFeedback(reading: &rest).map { .transportWideFeedback($0) }
        default:
            return .other(RTCPOtherPacket(packetType: type, count: count, body: body))
        }
    }

    private static func readReports(_ count: UInt8, from rest: inout ByteBuffer) -> [RTCPReceptionReport]? {
        var reports: [RTCPReceptionReport] = []
        for _ in 0..<count {
            guard
                let (ssrc, loss, highest, jitter, last, delay) = rest.readMultipleIntegers(
                    as: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32).self)
            else { return nil }
            reports.append(
                RTCPReceptionReport(
                    ssrc: ssrc, fractionLost: UInt8(loss >> 24),
                    // Sign-extends the lower 24 bits.
                    cumulativeLost: Int32(bitPattern: loss << 8) >> 8, highestSequence: highest, jitter: jitter,
                    lastSenderReport: last, delaySinceLastSenderReport: delay))
        }
        return reports
    }

    private static func readSourceDescription(_ count: UInt8, from rest: inout ByteBuffer) -> RTCPPacket? {
        var chunks: [RTCPSourceDescription.Chunk] = []
        for _ in 0..<count {
            let start = rest.readerIndex
            guard let ssrc = rest.readInteger(as: UInt32.self) else { return nil }
            var name = ""
            while true {
                guard let type = rest.readInteger(as: UInt8.self) else { return nil }
                if type == 0 { break }
                guard let length = rest.readInteger(as: UInt8.self), let text = rest.readString(length: Int(length))
                else { return nil }
                if type == RTCPPacketType.canonicalNameItem { name = text }
            }
            // RFC 3550 §6.5: the list ends with one to four zeros, up to the next 32-bit boundary.
            let excess = (rest.readerIndex - start) % 4
            if excess != 0 {
                guard rest.readSlice(length: 4 - excess) != nil else { return nil }
            }
            chunks.append(.init(ssrc: ssrc, canonicalName: name))
        }
        return .sourceDescription(RTCPSourceDescription(chunks: chunks))
    }

    private static func readGoodbye(_ count: UInt8, from rest: inout ByteBuffer) -> RTCPPacket? {
        var goodbye = RTCPGoodbye(ssrcs: [])
        for _ in 0..<count {
            guard let ssrc = rest.readInteger(as: UInt32.self) else { return nil }
            goodbye.ssrcs.append(ssrc)
        }
        if let length = rest.readInteger(as: UInt8.self) {
            guard let reason = rest.readString(length: Int(length)) else { return nil }
            goodbye.reason = reason
        }
        return .goodbye(goodbye)
    }

    private static func readGenericNACK(from rest: inout ByteBuffer) -> RTCPPacket? {
        guard let (sender, media) = rest.readMultipleIntegers(as: (UInt32, UInt32).self),
            rest.readableBytes > 0, rest.readableBytes % 4 == 0
        else { return nil }
        var lost: [UInt16] = []
        while let (first, mask) = rest.readMultipleIntegers(as: (UInt16, UInt16).self) {
            lost.append(first)
            for bit in 0..<16 where mask >> UInt16(bit) & 1 != 0 {
                lost.append(first &+ UInt16(bit + 1))
            }
        }
        return .genericNACK(RTCPGenericNACK(senderSSRC: sender, mediaSSRC: media, lostSequenceNumbers: lost))
    }

    private static func readFullIntraRequest(from rest: inout ByteBuffer) -> RTCPPacket? {
        // RFC 5104 §4.3.1.2: the media SSRC of the common header is not used.
        guard let (sender, _) = rest.readMultipleIntegers(as: (UInt32, UInt32).self),
            rest.readableBytes % 8 == 0
        else { return nil }
        var request = RTCPFullIntraRequest(senderSSRC: sender, entries: [])
        while let (ssrc, number) = rest.readMultipleIntegers(as: (UInt32, UInt32).self) {
            request.entries.append(.init(ssrc: ssrc, sequenceNumber: UInt8(number >> 24)))
        }
        return .fullIntraRequest(request)
    }
}
