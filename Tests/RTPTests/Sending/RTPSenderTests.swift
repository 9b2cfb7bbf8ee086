import NIOCore
import RTPTestSupport
import Testing

@testable import RTP

@Suite struct RTPSenderTests {
    private func sender(first: UInt16 = 65_530) -> RTPSender {
        RTPSender(
            codec: MediaFixtures.h264, ssrc: 0xABCD, canonicalName: "c", initialSequenceNumber: first,
            timestampOffset: 0xFFFF_FFF0)
    }

    private func packet(_ sequence: Int64, pts: Int64 = 0, marker: Bool = true) -> MediaPacket {
        MediaPacket(
            payload: ByteBuffer(bytes: [1, 2, 3]), marker: marker,
            timestamp: UInt32(truncatingIfNeeded: pts * 9 / 100), sequence: sequence, isKeyFrameStart: false, pts: pts)
    }

    private let start = NIODeadline.uptimeNanoseconds(5_000_000_000)

    private func write(_ sender: inout RTPSender, _ packet: MediaPacket) throws -> RTPPacket {
        var buffer = ByteBuffer()
        sender.write(packet, into: &buffer, at: start)
        return try RTPPacket(parsing: buffer)
    }

    @Test("Sequence numbers are contiguous although packets are left out, and timestamps have the offset")
    func contiguous() throws {
        var sender = sender()
        var numbers: [UInt16] = []
        for sequence: Int64 in [0, 1, 2, 40, 41, 1_000_000, 1_000_001, 1_000_002] {
            let packet = try write(&sender, packet(sequence, pts: 1_000_000))
            numbers.append(packet.sequenceNumber)
            #expect(packet.timestamp == 90_000 &+ 0xFFFF_FFF0)
            #expect(packet.ssrc == 0xABCD && packet.payloadType == 96 && packet.marker)
        }
        #expect(numbers == [65_530, 65_531, 65_532, 65_533, 65_534, 65_535, 0, 1])
        #expect(sender.statistics.packetsSent == 8 && sender.statistics.bytesSent == 24)
    }

    @Test("A picture whose rest is not sent is followed by a gap, which a NACK does not fill")
    func incompletePicture() throws {
        var sender = sender(first: 100)
        var numbers: [UInt16] = []
        for (sequence, marker) in [(0, false), (1, true), (2, false), (50, false), (51, true), (52, true)] {
            numbers.append(try write(&sender, packet(Int64(sequence), marker: marker)).sequenceNumber)
        }
        #expect(numbers == [100, 101, 102, 104, 105, 106])
        let nack = RTCPGenericNACK(senderSSRC: 1, mediaSSRC: 0xABCD, lostSequenceNumbers: [103, 104])
        #expect(sender.handle(.genericNACK(nack), at: start) == [.retransmissionRequested([50])])
    }

    @Test("Without a history nothing is sent again, and reports come at the given interval")
    func noHistory() throws {
        var sender = RTPSender(
            codec: MediaFixtures.h264, ssrc: 0xABCD, canonicalName: "c", initialSequenceNumber: 100,
            keepsHistory: false, reportInterval: .seconds(5))
        for (sequence, marker) in [(0, false), (1, true), (2, false), (50, true)] {
            _ = try write(&sender, packet(Int64(sequence), marker: marker))
        }
        let nack = RTCPGenericNACK(senderSSRC: 1, mediaSSRC: 0xABCD, lostSequenceNumbers: [100, 104])
        #expect(sender.handle(.genericNACK(nack), at: start).isEmpty)
        #expect(!sender.hasSent(trackSequence: 1))
        let anchor = MediaClockAnchor(pts: 0, wallClock: 0)
        let times = (0...12).filter { second in
            sender.report(at: start + .seconds(Int64(second)), wallClock: 0, anchor: anchor) != nil
        }
        #expect(times == [0, 5, 10])
    }

    @Test("A recent retransmission is not repeated, and a flood of NACKs gets no more packets than were sent")
    func nackFlood() {
        var sender = RTPSender(
            codec: MediaFixtures.h264, ssrc: 0xABCD, canonicalName: "c", initialSequenceNumber: 0, timestampOffset: 0)
        var buffer = ByteBuffer()
        var next: Int64 = 0
        func send(_ count: Int64) {
            for _ in 0..<count {
                buffer.clear()
                sender.write(packet(next), into: &buffer, at: start)
                next += 1
            }
        }
        func asked(_ numbers: [UInt16], at time: NIODeadline) -> Int {
            let nack = RTCPGenericNACK(senderSSRC: 1, mediaSSRC: 0xABCD, lostSequenceNumbers: numbers)
            return sender.handle(.genericNACK(nack), at: time).reduce(0) { count, event in
                guard case .retransmissionRequested(let sequences) = event else { return count }
                return count + sequences.count
            }
        }
        send(2_000)
        #expect(asked([7, 7, 8], at: start) == 2)
        #expect(asked([7, 8], at: start + .milliseconds(4)) == 0)
        #expect(asked([7, 8], at: start + .milliseconds(6)) == 2)
        // 508 of 512 are left; then one for each packet that is sent.
        var total = 0
        for round: Int64 in 1...50 { total += asked(Array(0..<2_000), at: start + .milliseconds(100 * round)) }
        #expect(total == 508)
        send(30)
        #expect(asked(Array(0..<2_000), at: start + .seconds(60)) == 30)
    }

    @Test("Packets that a NACK requests are sent again under the same numbers")
    func retransmission() throws {
        var sender = sender()
        for sequence: Int64 in [5, 6, 90, 91, 92, 93, 94, 95] { _ = try write(&sender, packet(sequence)) }
        let nack = RTCPGenericNACK(senderSSRC: 1, mediaSSRC: 0xABCD, lostSequenceNumbers: [65_532, 1, 2, 65_529])
        #expect(sender.handle(.genericNACK(nack), at: start) == [.retransmissionRequested([90, 95])])
        var buffer = ByteBuffer()
        #expect(sender.writeAgain(packet(90), into: &buffer))
        #expect(try RTPPacket(parsing: buffer).sequenceNumber == 65_532)
        #expect(!sender.writeAgain(packet(7), into: &buffer))
        #expect(!sender.writeAgain(packet(1_000), into: &buffer))
        #expect(sender.statistics.nackCount == 1 && sender.statistics.retransmittedPacketsSent == 1)
    }

    @Test("Only the last 2048 packets can be sent again")
    func memory() throws {
        var sender = sender(first: 0)
        for sequence: Int64 in 0..<3_000 { _ = try write(&sender, packet(sequence * 3)) }
        var buffer = ByteBuffer()
        for sequence: Int64 in 952..<3_000 { #expect(sender.writeAgain(packet(sequence * 3), into: &buffer)) }
        #expect(!sender.writeAgain(packet(951 * 3), into: &buffer))
        #expect(!sender.writeAgain(packet(1_000 * 3 + 1), into: &buffer))
    }

    @Test("Feedback for other streams and a repeated FIR have no effect")
    func feedback() {
        var sender = sender()
        #expect(sender.handle(.pictureLossIndication(.init(senderSSRC: 1, mediaSSRC: 2)), at: start) == [])
        #expect(
            sender.handle(.pictureLossIndication(.init(senderSSRC: 1, mediaSSRC: 0xABCD)), at: start)
                == [.keyFrameRequested])
        let request = RTCPPacket.fullIntraRequest(
            .init(senderSSRC: 1, entries: [.init(ssrc: 0xABCD, sequenceNumber: 4)]))
        #expect(sender.handle(request, at: start) == [.keyFrameRequested])
        #expect(sender.handle(request, at: start) == [])
        #expect(sender.statistics.pliCount == 1 && sender.statistics.firCount == 2)
    }

    @Test("Reports are sent once per second, map two tracks to one clock, and measure the round trip")
    func reports() throws {
        let anchor = MediaClockAnchor(pts: 500_000, wallClock: 1_763_000_000_000_000)
        var video = sender()
        var audio = RTPSender(codec: MediaFixtures.pcma, ssrc: 2, canonicalName: "c", timestampOffset: 77)
        #expect(video.reportDeadline == nil)
        #expect(video.report(at: start, wallClock: 0, anchor: anchor) == nil)
        _ = try write(&video, packet(0, pts: 500_000))
        _ = try write(&audio, packet(0, pts: 500_000))
        #expect(video.reportDeadline == start)
        // The two reports are created at different times and still agree.
        let wall = anchor.wallClock + 250_000
        guard case .senderReport(let first) = video.report(at: start, wallClock: wall, anchor: anchor)?.first,
            case .senderReport(let second) = audio.report(at: start, wallClock: wall + 333_000, anchor: anchor)?.first
        else {
            Issue.record("no sender report")
            return
        }
        #expect(first.packetCount == 1 && first.octetCount == 3)
        func senderTime(_ report: RTCPSenderReport, clockRate: Int, pts: Int64, offset: UInt32) -> Int64 {
            let ticks = Int64(UInt32(truncatingIfNeeded: pts * Int64(clockRate) / 1_000_000) &+ offset)
            return SenderReportMapping(
                ntpMicroseconds: NTPTime.microseconds(timestamp: report.ntpTimestamp),
                rtpTimestamp: ticks
                    + Int64(Int32(bitPattern: report.rtpTimestamp &- UInt32(truncatingIfNeeded: ticks))),
                clockRate: clockRate
            ).senderTime(ofRTPTimestamp: ticks)
        }
        let pts: Int64 = 900_000
        let expected = anchor.wallClock + 400_000
        #expect(abs(senderTime(first, clockRate: 90_000, pts: pts, offset: 0xFFFF_FFF0) - expected) <= 12)
        #expect(abs(senderTime(second, clockRate: 8_000, pts: pts, offset: 77) - expected) <= 126)
        #expect(video.report(at: start + .milliseconds(999), wallClock: wall, anchor: anchor) == nil)
        #expect(video.report(at: start + .seconds(1), wallClock: wall + 1_000_000, anchor: anchor) != nil)

        let block = RTCPReceptionReport(
            ssrc: 0xABCD, fractionLost: 128, cumulativeLost: 5, highestSequence: 0, jitter: 900,
            lastSenderReport: NTPTime.middle(first.ntpTimestamp), delaySinceLastSenderReport: 65_536 / 2)
        _ = video.handle(.receiverReport(.init(ssrc: 9, reports: [block])), at: start + .milliseconds(580))
        #expect(video.statistics.roundTripTime == .milliseconds(80))
        #expect(video.statistics.fractionLost == 0.5 && video.statistics.packetsLost == 5)
        #expect(video.statistics.jitter == 0.01)
    }
}
