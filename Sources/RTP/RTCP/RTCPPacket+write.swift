public import NIOCore

extension RTCPPacket {
    /// Appends all packets to `buffer`. RFC 3550 §6.1 requires an SR or RR first and a CNAME in each compound packet;
    /// RFC 5506 waives this if both peers agreed.
    public static func write(compound packets: [RTCPPacket], into buffer: inout ByteBuffer) {
        for packet in packets { packet.write(into: &buffer) }
    }

    /// Appends this packet to `buffer`. Only the first 31 reports, chunks or sources are written, because the format
    /// cannot hold more.
    public func write(into buffer: inout ByteBuffer) {
        switch self {
        case .senderReport(let report):
            Self.write(RTCPPacketType.senderReport, report.reports.count, into: &buffer) { buffer in
                buffer.writeMultipleIntegers(
                    report.ssrc, report.ntpTimestamp, report.rtpTimestamp, report.packetCount, report.octetCount)
                Self.write(report.reports, into: &buffer)
            }
        case .receiverReport(let report):
            Self.write(RTCPPacketType.receiverReport, report.reports.count, into: &buffer) { buffer in
                buffer.writeInteger(report.ssrc)
                Self.write(report.reports, into: &buffer)
            }
        case .sourceDescription(let description):
            Self.write(RTCPPacketType.sourceDescription, description.chunks.count, into: &buffer) { buffer in
                for chunk in description.chunks.prefix(31) { Self.write(chunk, into: &buffer) }
            }
        case .goodbye(let goodbye):
            Self.write(RTCPPacketType.goodbye, goodbye.ssrcs.count, into: &buffer) { buffer in
                for ssrc in goodbye.ssrcs.prefix(31) { buffer.writeInteger(ssrc) }
                if !goodbye.reason.isEmpty { Self.write(text: goodbye.reason, into: &buffer) }
            }
        case .genericNACK(let nack):
            Self.write(
                RTCPPacketType.transportFeedback, Int(RTCPPacketType.genericNACKFormat), into: &buffer
            ) { buffer in
                buffer.writeMultipleIntegers(nack.senderSSRC, nack.mediaSSRC)
                Self.write(lost: nack.lostSequenceNumbers, into: &buffer)
            }
        case .pictureLossIndication(let indication):
            Self.write(RTCPPacketType.payloadFeedback, Int(RTCPPacketType.pictureLossFormat), into: &buffer) {
                $0.writeMultipleIntegers(indication.senderSSRC, indication.mediaSSRC)
            }
        case .fullIntraRequest(let request):
            Self.write(RTCPPacketType.payloadFeedback, Int(RTCPPacketType.fullIntraFormat), into: &buffer) { buffer in
                buffer.writeMultipleIntegers(request.senderSSRC, UInt32(0))
                for entry in request.entries {
                    buffer.writeMultipleIntegers(entry.ssrc, UInt32(entry.sequenceNumber) << 24)
                }
            }
        case .receiverEstimate(let estimate):
            Self.write(RTCPPacketType.payloadFeedback, Int(RTCPPacketType.applicationFormat), into: &buffer) {
                estimate.write(into: &$0)
            }
        case .transportWideFeedback(let feedback):
            Self.write(RTCPPacketType.transportFeedback, Int(RTCPPacketType.transportWideFormat), into: &buffer) {
                feedback.write(into: &$0)
            }
        case .other(let packet):
            Self.write(packet.packetType, Int(packet.count & 0x1F), into: &buffer) {
                $0.writeImmutableBuffer(packet.body)
            }
        }
    }

    /// Writes the header, the body and zeros up to a 32-bit boundary, then sets the length.
    private static func write(
        _ type: UInt8, _ count: Int, into buffer: inout ByteBuffer, body: (inout ByteBuffer) -> Void
    ) {
        let start = buffer.writerIndex
        buffer.writeMultipleIntegers(0x80 | UInt8(min(count, 31)), type, UInt16(0))
        body(&buffer)
        let excess = (buffer.writerIndex - start) % 4
        if excess != 0 { buffer.writeRepeatingByte(0, count: 4 - excess) }
        let words = (buffer.writerIndex - start) / 4 - 1
        buffer.setInteger(UInt16(truncatingIfNeeded: words), at: start + 2)
    }

    private static func write(_ reports: [RTCPReceptionReport], into buffer: inout ByteBuffer) {
        for report in reports.prefix(31) {
            let lost = min(max(report.cumulativeLost, -0x80_0000), 0x7F_FFFF)
            buffer.writeMultipleIntegers(
                report.ssrc, UInt32(report.fractionLost) << 24 | UInt32(bitPattern: lost) & 0xFF_FFFF,
                report.highestSequence, report.jitter, report.lastSenderReport, report.delaySinceLastSenderReport)
        }
    }

    private static func write(_ chunk: RTCPSourceDescription.Chunk, into buffer: inout ByteBuffer) {
        let start = buffer.writerIndex
        buffer.writeInteger(chunk.ssrc)
        buffer.writeInteger(RTCPPacketType.canonicalNameItem)
        write(text: chunk.canonicalName, into: &buffer)
        // At least one zero ends the list of items.
        buffer.writeRepeatingByte(0, count: 4 - (buffer.writerIndex - start) % 4)
    }

    private static func write(text: String, into buffer: inout ByteBuffer) {
        let bytes = text.utf8.prefix(255)
        buffer.writeInteger(UInt8(bytes.count))
        buffer.writeBytes(bytes)
    }

    /// Writes pairs of a first number and a mask of the sixteen numbers after it.
    private static func write(lost numbers: [UInt16], into buffer: inout ByteBuffer) {
        var index = 0
        while index < numbers.count {
            let first = numbers[index]
            var mask: UInt16 = 0
            index += 1
            while index < numbers.count {
                let distance = numbers[index] &- first
                guard (1...16).contains(distance) else { break }
                mask |= 1 << (distance - 1)
                index += 1
            }
            buffer.writeMultipleIntegers(first, mask)
        }
    }
}
