import IoTCore
import NIOCore
import RTP
import RTPTestSupport
import TestSupport
import Testing

@testable import PeerTransport

/// The sender's knowledge of the packets that its viewer lacks.
@Suite struct UndeliveredTests {
    private let start = NIODeadline.uptimeNanoseconds(5_000_000_000)

    private func sender(sending sequences: some Sequence<Int64>) -> RTPSender {
        var sender = RTPSender(
            codec: MediaFixtures.h264, ssrc: 0xABCD, canonicalName: "c", initialSequenceNumber: 0, timestampOffset: 0)
        write(sequences, &sender)
        return sender
    }

    private func write(_ sequences: some Sequence<Int64>, _ sender: inout RTPSender) {
        var buffer = ByteBuffer()
        for sequence in sequences {
            buffer.clear()
            let packet = MediaPacket(
                payload: ByteBuffer(bytes: [1]), marker: true, timestamp: UInt32(truncatingIfNeeded: sequence),
                sequence: sequence, isKeyFrameStart: false, pts: 0)
            sender.write(packet, into: &buffer, at: start)
        }
    }

    private func ask(_ sender: inout RTPSender, _ numbers: [UInt16], at time: NIODeadline) {
        let nack = RTCPGenericNACK(senderSSRC: 1, mediaSSRC: 0xABCD, lostSequenceNumbers: numbers)
        _ = sender.handle(.genericNACK(nack), at: time)
    }

    @Test("A packet that is requested repeatedly is missing; one that is no longer requested has arrived")
    func byRequests() {
        var sender = sender(sending: 100..<200)
        ask(&sender, [3, 7], at: start)
        ask(&sender, [3, 7], at: start + .milliseconds(100))
        #expect(sender.undelivered(at: start + .milliseconds(100)).isEmpty, "its repairs are in flight")
        ask(&sender, [3], at: start + .milliseconds(200))
        #expect(sender.undelivered(at: start + .milliseconds(300)) == [103])
        #expect(sender.undelivered(at: start + .milliseconds(1_200)).isEmpty)
    }

    @Test("A packet that feedback reports as lost is missing until a repair of it arrives")
    func byFeedback() {
        var sender = sender(sending: 100..<200)
        for number: UInt16 in [9, 5] { sender.noteDelivery(ofSequenceNumber: number, hasArrived: false) }
        sender.noteDelivery(ofSequenceNumber: 5_000, hasArrived: false)
        #expect(sender.undelivered(at: start + .seconds(60)) == [105, 109])
        sender.noteDelivery(ofSequenceNumber: 5, hasArrived: true)
        #expect(sender.undelivered(at: start + .seconds(60)) == [109])
    }

    @Test("A loss report identifies no packets, so none counts as missing")
    func byReports() {
        var sender = sender(sending: 0..<100)
        let report = RTCPReceptionReport(
            ssrc: 0xABCD, fractionLost: 128, cumulativeLost: 50, highestSequence: 99, jitter: 0,
            lastSenderReport: 0, delaySinceLastSenderReport: 0)
        _ = sender.handle(.receiverReport(RTCPReceiverReport(ssrc: 1, reports: [report])), at: start)
        #expect(sender.undelivered(at: start).isEmpty)
    }

    @Test("Packets older than the history are forgotten, also when the numbers wrap")
    func bounded() {
        var sender = sender(sending: 0..<100)
        sender.noteDelivery(ofSequenceNumber: 50, hasArrived: false)
        write(100..<3_000, &sender)
        #expect(sender.undelivered(at: start).isEmpty)
        write(3_000..<65_600, &sender)
        #expect(sender.undelivered(at: start).isEmpty)
    }

    @Test("A track that restarts at an earlier number has nothing to repair from before")
    func restart() {
        var sender = sender(sending: 0..<100)
        sender.noteDelivery(ofSequenceNumber: 50, hasArrived: false)
        write(40..<100, &sender)
        #expect(sender.undelivered(at: start).isEmpty)
        #expect(sender.sequenceNumber(ofTrackSequence: 45) == 105)
        #expect(!sender.hasSent(trackSequence: 39))
        sender.noteDelivery(ofSequenceNumber: 50, hasArrived: false)
        #expect(sender.undelivered(at: start).isEmpty)
    }

    @Test(
        "Over a lossy path the sender learns of each missing packet, and of no other", arguments: [true, false])
    func overLink(hasRepairs: Bool) throws {
        let video = MediaSection(
            mid: "0", kind: .video, direction: .sendOnly, codecs: [MediaFixtures.h264],
            feedback: hasRepairs ? nil : [.pictureLossIndication, .transportWide])
        let link = try PeerLink(sections: [video], seed: 4)
        try link.connect()
        var first: UInt16?
        link.tamper = { sender, bytes in
            guard sender == 0,
                let (head, type, number) = bytes.getMultipleIntegers(
                    at: 0, as: (UInt8, UInt8, UInt16).self), head & 0xC0 == 0x80, !RTCPPacket.isRTCP(bytes)
            else { return [bytes] }
            // Every seventh packet and every repair is lost.
            guard type & 0x7F == MediaFixtures.h264.payloadType else { return [] }
            first = first ?? number
            return (number &- (first ?? 0)) % 7 == 3 ? [] : [bytes]
        }
        for index: Int64 in 0..<100 {
            let packet = MediaPacket(
                payload: ByteBuffer(bytes: [0x41] + Array(repeating: 7, count: 500)), marker: true,
                timestamp: UInt32(index * 3_000), sequence: index, isKeyFrameStart: false, pts: index * 33_333)
            link.peers[0].send([packet], mid: "0", at: link.now)
            try link.run(for: .milliseconds(30))
        }
        try link.run(for: .milliseconds(300))
        let undelivered = link.peers[0].undelivered(mid: "0", at: link.now)
        #expect(undelivered.filter { $0 < 90 } == (0..<90).filter { $0 % 7 == 3 })
        #expect(undelivered.allSatisfy { $0 % 7 == 3 })
    }
}
