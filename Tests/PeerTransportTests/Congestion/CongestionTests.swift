import IoTCore
import NIOCore
import RTP
import Testing

@testable import PeerTransport

/// The whole connection over a way of a limited rate with a drop-tail queue of 64,000 bytes, in virtual time.
@Suite struct CongestionTests {
    @Test(
        "A fall from 4 to 1 Mbit/s is followed within 2 s, without a collapse, and the way back is found",
        arguments: 1...3)
    func fall(seed: Int) throws {
        let run = try CongestionRun(seed: UInt64(seed), rate: 4_000_000)
        try run.run(for: .seconds(10))
        // It has found most of what there is, and no more.
        for sample in run.samples(from: 5, to: 10) {
            #expect((2_400_000...4_400_000).contains(sample.target), "\(sample.target) after \(sample.time)")
            #expect(sample.queueDelay <= .milliseconds(150))
        }
        run.link.rate = 1_000_000
        try run.run(for: .seconds(12))
        // 64,000 bytes are 512 ms of 1 Mbit/s.
        #expect(run.samples(from: 10, to: 12).allSatisfy { $0.queueDelay <= .milliseconds(512) })
        for sample in run.samples(from: 12, to: 22) {
            #expect((600_000...1_100_000).contains(sample.target), "\(sample.target) after \(sample.time)")
            #expect(sample.queueDelay <= .milliseconds(250), "\(sample.queueDelay) after \(sample.time)")
        }
        run.link.rate = 4_000_000
        try run.run(for: .seconds(20))
        for sample in run.samples(from: 38, to: 42) { #expect(sample.target >= 2_400_000) }
        // Key frames come every two seconds: hardly any picture may be lost for good.
        #expect(Double(run.receivedFrames) >= 0.96 * Double(run.sentFrames))
    }

    @Test("5 % loss at 50 ms round trip keeps 4 Mbit/s whole for 99 % of frames", arguments: 1...3)
    func loss(seed: Int) throws {
        let run = try CongestionRun(seed: UInt64(seed), rate: nil, initialBitrate: 10_000_000)
        // What the source sends, with its key frames.
        run.fixedRate = Int(4_000_000 / 0.9)
        run.link.lossRate = 0.05
        run.link.jitter = .milliseconds(10)
        try run.run(for: .seconds(20))
        run.link.lossRate = 0
        try run.run(for: .seconds(2))
        #expect(Double(run.receivedFrames) >= 0.99 * Double(run.sentFrames))
        let sender = run.link.peers[0].statistics
        let receiver = run.link.peers[1].statistics
        #expect(sender.packetsDiscardedOnSend == 0)
        #expect((sender.availableOutgoingBitrate ?? 0) >= 4_000_000)
        // Repairs came in their own stream.
        #expect(sender.outbound["0"]?.rtxSSRC != nil)
        #expect((receiver.inbound["0"]?.retransmittedPacketsReceived ?? 0) > 300)
        #expect((receiver.inbound["0"]?.retransmittedBytesReceived ?? 0) > 300_000)
    }

    @Test("A way of 30 ms jitter is not taken for a full one", arguments: 1...3)
    func jitter(seed: Int) throws {
        let run = try CongestionRun(seed: UInt64(seed), rate: nil, initialBitrate: 10_000_000)
        run.fixedRate = 4_400_000
        run.link.jitter = .milliseconds(30)
        try run.run(for: .seconds(15))
        #expect(run.link.peers[0].statistics.packetsDiscardedOnSend == 0)
        #expect(run.samples.allSatisfy { $0.target >= 3_000_000 })
        let sender = try #require(run.link.peers[0].statistics.outbound["0"])
        // On the average a packet waits for the pacer no longer than a frame lasts.
        #expect(sender.totalPacketSendDelay.nanoseconds / Int64(sender.packetsSent) < 40_000_000)
    }

    @Test("A source that cannot send less is held to the way, in whole frames", arguments: 1...3)
    func fixedSource(seed: Int) throws {
        let run = try CongestionRun(seed: UInt64(seed), rate: 1_000_000)
        run.fixedRate = 3_000_000
        try run.run(for: .seconds(20))
        let sender = run.link.peers[0].statistics
        #expect(sender.packetsDiscardedOnSend > 0)
        #expect((sender.outbound["0"]?.packetsDiscarded ?? 0) == sender.packetsDiscardedOnSend)
        // Bounded: a second of the pacer, and one frame that was let in.
        #expect(sender.packetsQueuedByPacer < 400)
        for sample in run.samples(from: 6, to: 20) {
            #expect(sample.target >= 500_000 && sample.queueDelay <= .milliseconds(520))
        }
        // Some 1 of 3 Mbit/s arrives as pictures, and what arrives is whole.
        #expect(run.receivedFrames > run.sentFrames / 10)
        #expect(run.link.peers[1].statistics.inbound["0"]?.framesDamaged == 0)
    }

    @Test("Without congestion control everything leaves at once")
    func disabled() throws {
        let run = try CongestionRun(seed: 1, rate: nil) { $0.congestion.isEnabled = false }
        run.fixedRate = 4_000_000
        try run.run(for: .seconds(2))
        #expect(run.link.peers[0].statistics.availableOutgoingBitrate == nil)
        #expect(run.receivedFrames >= run.sentFrames - 1)
    }
}
