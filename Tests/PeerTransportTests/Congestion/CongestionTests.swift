import IoTCore
import NIOCore
import RTP
import Testing

@testable import PeerTransport

/// A whole connection over a path with limited capacity and a drop-tail queue of 64,000 bytes, in virtual time.
@Suite struct CongestionTests {
    @Test(
        "A drop from 4 to 1 Mbit/s is followed within 2 s, without a collapse, and the rate recovers afterwards",
        arguments: 1...3)
    func fall(seed: Int) throws {
        let run = try CongestionRun(seed: UInt64(seed), rate: 4_000_000)
        try run.run(for: .seconds(10))
        // The estimate is near the capacity, and not above it.
        for sample in run.samples(from: 5, to: 10) {
            #expect((2_400_000...4_400_000).contains(sample.target), "\(sample.target) after \(sample.time)")
            #expect(sample.queueDelay <= .milliseconds(150))
        }
        run.link.rate = 1_000_000
        try run.run(for: .seconds(12))
        // 64,000 bytes take 512 ms at 1 Mbit/s.
        #expect(run.samples(from: 10, to: 12).allSatisfy { $0.queueDelay <= .milliseconds(512) })
        for sample in run.samples(from: 12, to: 22) {
            #expect((600_000...1_100_000).contains(sample.target), "\(sample.target) after \(sample.time)")
            #expect(sample.queueDelay <= .milliseconds(250), "\(sample.queueDelay) after \(sample.time)")
        }
        run.link.rate = 4_000_000
        try run.run(for: .seconds(20))
        for sample in run.samples(from: 38, to: 42) { #expect(sample.target >= 2_400_000) }
        // Key frames come every two seconds, so hardly any frame may be lost for good.
        #expect(Double(run.receivedFrames) >= 0.96 * Double(run.sentFrames))
    }

    @Test("With 5 % loss and 50 ms round trip, 99 % of frames arrive complete at 4 Mbit/s", arguments: 1...3)
    func loss(seed: Int) throws {
        let run = try CongestionRun(seed: UInt64(seed), rate: nil, initialBitrate: 10_000_000)
        // The total rate of the source, key frames included.
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
        // Repairs were sent in their own stream.
        #expect(sender.outbound["0"]?.rtxSSRC != nil)
        #expect((receiver.inbound["0"]?.retransmittedPacketsReceived ?? 0) > 300)
        #expect((receiver.inbound["0"]?.retransmittedBytesReceived ?? 0) > 300_000)
    }

    @Test("A path with 30 ms of jitter is not mistaken for a full one", arguments: 1...3)
    func jitter(seed: Int) throws {
        let run = try CongestionRun(seed: UInt64(seed), rate: nil, initialBitrate: 10_000_000)
        run.fixedRate = 4_400_000
        run.link.jitter = .milliseconds(30)
        try run.run(for: .seconds(15))
        #expect(run.link.peers[0].statistics.packetsDiscardedOnSend == 0)
        #expect(run.samples.allSatisfy { $0.target >= 3_000_000 })
        let sender = try #require(run.link.peers[0].statistics.outbound["0"])
        // On average a packet waits in the pacer for less than a frame interval.
        #expect(sender.totalPacketSendDelay.nanoseconds / Int64(sender.packetsSent) < 40_000_000)
    }

    @Test("A source that cannot send less is limited to the path's capacity, in whole frames", arguments: 1...3)
    func fixedSource(seed: Int) throws {
        let run = try CongestionRun(seed: UInt64(seed), rate: 1_000_000)
        run.fixedRate = 3_000_000
        try run.run(for: .seconds(20))
        let sender = run.link.peers[0].statistics
        #expect(sender.packetsDiscardedOnSend > 0)
        #expect((sender.outbound["0"]?.packetsDiscarded ?? 0) == sender.packetsDiscardedOnSend)
        // The bound: one second in the pacer, plus one frame that was accepted.
        #expect(sender.packetsQueuedByPacer < 400)
        for sample in run.samples(from: 6, to: 20) {
            #expect(sample.target >= 500_000 && sample.queueDelay <= .milliseconds(520))
        }
        // About 1 of 3 Mbit/s arrives, in whole frames.
        #expect(run.receivedFrames > run.sentFrames / 10)
        #expect(run.link.peers[1].statistics.inbound["0"]?.framesDamaged == 0)
    }

    @Test("Without congestion control all packets are sent at once")
    func disabled() throws {
        let run = try CongestionRun(seed: 1, rate: nil) { $0.congestion.isEnabled = false }
        run.fixedRate = 4_000_000
        try run.run(for: .seconds(2))
        #expect(run.link.peers[0].statistics.availableOutgoingBitrate == nil)
        #expect(run.receivedFrames >= run.sentFrames - 1)
    }
}
