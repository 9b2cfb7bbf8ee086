import IoTCore
import NIOCore
import RTPTestSupport
import Testing

@testable import RTP

/// Retransmissions in their own stream (RFC 4588).
@Suite struct RetransmissionTests {
    private let start = NIODeadline.uptimeNanoseconds(5_000_000_000)

    private func packet(_ sequence: Int64, _ bytes: [UInt8]) -> MediaPacket {
        MediaPacket(
            payload: ByteBuffer(bytes: bytes), marker: true, timestamp: UInt32(sequence) * 3_600, sequence: sequence,
            isKeyFrameStart: sequence == 0, pts: sequence * 40_000)
    }

    @Test("A retransmission has its own SSRC, type and sequence, and the original number before the payload")
    func writes() throws {
        var sender = RTPSender(
            codec: MediaFixtures.h264, ssrc: 1, canonicalName: "c",
            retransmission: .init(payloadType: 97, ssrc: 2, initialSequenceNumber: 65_535),
            initialSequenceNumber: 100, timestampOffset: 0)
        var buffer = ByteBuffer()
        for sequence: Int64 in 0..<3 { sender.write(packet(sequence, [UInt8(sequence)]), into: &buffer, at: start) }
        for (index, sequence) in [Int64(2), 0].enumerated() {
            buffer.clear()
            #expect(sender.hasSent(trackSequence: sequence))
            #expect(sender.writeAgain(packet(sequence, [UInt8(sequence)]), into: &buffer))
            let repair = try RTPPacket(parsing: buffer)
            #expect(repair.ssrc == 2 && repair.payloadType == 97)
            #expect(repair.sequenceNumber == 65_535 &+ UInt16(index))
            #expect(repair.timestamp == UInt32(sequence) * 3_600 && repair.marker)
            #expect(repair.payload.hex == "00" + Hex.encode([UInt8(100 + sequence), UInt8(sequence)]))
        }
        #expect(!sender.hasSent(trackSequence: 3))
        #expect(!sender.writeAgain(packet(3, [3]), into: &buffer))
        #expect(sender.statistics.packetsSent == 5 && sender.statistics.retransmittedPacketsSent == 2)
        // Five headers and two original sequence numbers.
        #expect(sender.statistics.headerBytesSent == 5 * 12 + 2 * 2)
        // RFC 4588 §6.1: the media stream's reports do not count retransmissions.
        let anchor = MediaClockAnchor(pts: 0, wallClock: 0)
        guard case .senderReport(let report) = sender.report(at: start, wallClock: 0, anchor: anchor)?.first else {
            Issue.record("no report")
            return
        }
        #expect(report.packetCount == 3)
        #expect(sender.goodbye() == .goodbye(RTCPGoodbye(ssrcs: [1, 2])))
    }

    private func receiver() throws -> RTPReceiver {
        var configuration = RTPReceiverConfiguration(localSSRC: 9, canonicalName: "c")
        configuration.hasRetransmissionStream = true
        return try RTPReceiver(codecs: [MediaFixtures.opus], configuration: configuration)
    }

    private func media(_ number: UInt16) -> RTPPacket {
        RTPPacket(
            payloadType: 111, marker: false, sequenceNumber: number, timestamp: UInt32(number) * 960, ssrc: 1,
            payload: ByteBuffer(bytes: [8, UInt8(truncatingIfNeeded: number)]))
    }

    private func repair(_ number: UInt16) -> RTPPacket {
        var packet = media(number)
        packet.ssrc = 2
        packet.payloadType = 97
        packet.payload = ByteBuffer(bytes: [UInt8(number >> 8), UInt8(number & 0xFF), 8, UInt8(number & 0xFF)])
        return packet
    }

    private func frames(_ receiver: inout RTPReceiver) -> [UInt8] {
        var frames: [UInt8] = []
        while let output = receiver.poll() {
            if case .timeout = output { break }
            if case .frame(let frame) = output { frames.append(frame.frame.bytes.readableBytesView.last ?? 0) }
        }
        return frames
    }

    @Test("A retransmission fills its gap, measures the round trip, and does not change the media stream's loss")
    func receives() throws {
        var receiver = try receiver()
        var now = start
        // There is nothing to repair before the stream starts.
        receiver.handle(repair: repair(9), of: 111, at: now)
        #expect(receiver.statistics.packetsReceived == 0)
        for number: UInt16 in [10, 11, 13] { receiver.handle(media(number), at: now) }
        #expect(frames(&receiver) == [10, 11])
        now = now + .milliseconds(20)
        receiver.handleTimeout(at: now)
        _ = frames(&receiver)
        #expect(receiver.statistics.nackCount == 1)
        now = now + .milliseconds(64)
        receiver.handle(repair: repair(12), of: 111, at: now)
        #expect(frames(&receiver) == [12, 13])
        #expect(receiver.statistics.roundTripTime == .milliseconds(64))
        #expect(receiver.statistics.retransmittedPacketsReceived == 1)
        #expect(receiver.statistics.packetsLost == 1)
        // A duplicate, an empty payload, a truncated one, and a packet with a distant number.
        receiver.handle(repair: repair(12), of: 111, at: now)
        #expect(receiver.statistics.packetsDuplicated == 1)
        var empty = repair(14)
        empty.payload = ByteBuffer(bytes: [0, 14])
        receiver.handle(repair: empty, of: 111, at: now)
        empty.payload = ByteBuffer(bytes: [0])
        receiver.handle(repair: empty, of: 111, at: now)
        receiver.handle(repair: repair(40_000), of: 111, at: now)
        #expect(frames(&receiver).isEmpty)
        #expect(receiver.statistics.packetsDiscarded == 1)
    }

    @Test("A packet that arrives late in the media stream does not count as lost")
    func late() throws {
        var receiver = try receiver()
        for number: UInt16 in [10, 12] { receiver.handle(media(number), at: start) }
        receiver.handleTimeout(at: start + .milliseconds(20))
        receiver.handle(media(11), at: start + .milliseconds(25))
        #expect(receiver.statistics.nackCount == 1)
        #expect(receiver.statistics.retransmittedPacketsReceived == 0 && receiver.statistics.packetsLost == 0)
        #expect(receiver.statistics.roundTripTime == nil)
    }

    @Test("If only FIR was negotiated, key frames are requested with FIRs, each with a new number")
    func fullIntraRequests() throws {
        var configuration = RTPReceiverConfiguration(localSSRC: 9, canonicalName: "c", isPLIEnabled: false)
        configuration.isFIREnabled = true
        var receiver = try RTPReceiver(codecs: [MediaFixtures.h264], configuration: configuration)
        receiver.handle(
            RTPPacket(
                payloadType: 96, marker: true, sequenceNumber: 1, timestamp: 0, ssrc: 1,
                payload: ByteBuffer(hex: "67 42c01f")), at: start)
        var requests: [RTCPPacket] = []
        for step in 0..<2 {
            receiver.requestKeyFrame(at: start + .seconds(Int64(step)))
            while let output = receiver.poll() {
                if case .timeout = output { break }
                if case .rtcp(let packets) = output { requests += packets }
            }
        }
        let firs = requests.compactMap { if case .fullIntraRequest(let request) = $0 { request } else { nil } }
        #expect(firs.map(\.entries) == [[.init(ssrc: 1, sequenceNumber: 0)], [.init(ssrc: 1, sequenceNumber: 1)]])
        #expect(receiver.statistics.firCount == 2 && receiver.statistics.pliCount == 0)
    }
}
