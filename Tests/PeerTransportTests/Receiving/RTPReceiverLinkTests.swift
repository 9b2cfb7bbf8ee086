import IoTCore
import NIOCore
import RTP
import RTPTestSupport
import TestSupport
import Testing

@testable import PeerTransport

/// A receiver with a sender, over a virtual link.
@Suite struct RTPReceiverLinkTests {
    /// 4 Mbit/s at 25 frames per second.
    private static let size = 20_000 * 250 / 255

    private static let bad = VirtualMediaLink.Conditions(
        loss: 0.05, delay: .milliseconds(25), jitter: .milliseconds(30), duplication: 0.01)

    /// Checks that frames are complete, unique and in order, with a `.lost` wherever one is missing.
    private func check(_ link: VirtualMediaLink, sent: [MediaFrame]) -> Int {
        var next = 0
        var hasGap = false
        var whole = 0
        for (_, what) in link.received {
            switch what {
            case .lost: hasGap = true
            case .report: break
            case .frame(let received):
                guard let index = sent[next...].firstIndex(where: { $0.bytes == received.frame.bytes }) else {
                    Issue.record("a frame that was not sent, or is out of order")
                    return whole
                }
                #expect(index == next || hasGap, "frames are missing without a .frameLost")
                #expect(received.firstArrival <= received.lastArrival)
                next = index + 1
                hasGap = false
                whole += 1
            }
        }
        return whole
    }

    @Test(
        "With 5 % loss, 30 ms jitter and 50 ms round trip, NACK delivers 99 % of the frames", arguments: 1...3)
    func lossyLinkWithNACK(seed: Int) throws {
        let frames = VirtualMediaLink.pictures(.h264, count: 400, gop: 250, size: Self.size)
        var link = try VirtualMediaLink(codec: MediaFixtures.h264, conditions: Self.bad, seed: UInt64(seed))
        try link.run(frames)
        let whole = check(link, sent: frames)
        #expect(Double(whole) >= 0.99 * Double(frames.count))
        let statistics = link.receiver.statistics
        #expect(statistics.framesReceived == UInt64(whole))
        #expect(statistics.retransmittedPacketsReceived > 300)
        // SRTP has removed the duplicates.
        #expect(statistics.packetsDuplicated < 10)
        // A frame is sent at once and its packets arrive within 30 ms, about 2 ms apart.
        #expect((0.001...0.010).contains(statistics.jitter))
        #expect((40...110).contains((statistics.roundTripTime?.nanoseconds ?? 0) / 1_000_000))
        // Nearly every lost packet is requested once or twice; reordering is not taken for loss.
        #expect(link.sender.statistics.retransmittedPacketsSent < 3 * statistics.retransmittedPacketsReceived)
        #expect((20...120).contains((link.sender.statistics.roundTripTime?.nanoseconds ?? 0) / 1_000_000))
        // A frame waits for its packets, but not long.
        let waits = link.frames.map { ($0.lastArrival - $0.firstArrival).nanoseconds / 1_000_000 }
        #expect((waits.max() ?? 0) <= 1_100)
    }

    @Test("The same link without NACK loses far more frames, and the stream continues")
    func lossyLinkWithoutNACK() throws {
        let frames = VirtualMediaLink.pictures(.h264, count: 400, gop: 250, size: Self.size)
        var link = try VirtualMediaLink(codec: MediaFixtures.h264, conditions: Self.bad, seed: 1) {
            $0.isNACKEnabled = false
        }
        try link.run(frames)
        let whole = check(link, sent: frames)
        #expect(Double(whole) < 0.7 * Double(frames.count))
        #expect(whole > 50)
        #expect(link.receiver.statistics.nackCount == 0 && link.receiver.statistics.pliCount > 5)
        #expect(link.lossCount > 100)
        // No frame is delayed for long: each is delivered soon after its last packet.
        for case (let time, .frame(let frame)) in link.received {
            #expect(time - frame.lastArrival <= .milliseconds(200))
        }
    }

    @Test("A clean link delivers every frame at once, complete, with its times", arguments: [VideoCodec.h264, .h265])
    func cleanLink(codec: VideoCodec) throws {
        let frames = VirtualMediaLink.pictures(codec, count: 100, gop: 50, size: 20_000)
        let rtp = codec == .h264 ? MediaFixtures.h264 : MediaFixtures.h265
        var link = try VirtualMediaLink(codec: rtp, conditions: .init(), seed: 1)
        try link.run(frames)
        #expect(link.frames.map(\.frame.bytes) == frames.map(\.bytes))
        #expect(link.lossCount == 0)
        let statistics = link.receiver.statistics
        #expect(statistics.nackCount == 0 && statistics.pliCount == 0 && statistics.packetsLost == 0)
        #expect(statistics.jitter < 0.03)
        for (index, received) in link.frames.enumerated() {
            let expected = frames[index].pts - frames[0].pts
            #expect(abs(received.frame.pts - link.frames[0].frame.pts - expected) <= 12)
            #expect(received.lastArrival == link.start + .microseconds(frames[index].pts) + .milliseconds(25))
        }
        // The sender report relates the frames to the sender's wall clock.
        let mapping = try #require(
            link.received.compactMap { if case .report(let mapping) = $0.what { mapping } else { nil } }.last)
        for (index, received) in link.frames.enumerated() {
            let time = mapping.senderTime(ofRTPTimestamp: received.rtpTimestamp)
            #expect(abs(time - link.anchor.wallClock - frames[index].pts) <= 12)
        }
    }

    @Test("AAC in fragments arrives over the lossy link")
    func sound() throws {
        var random = SeededGenerator(seed: 4)
        let frames = (0..<600).map { index in
            MediaFrame(
                kind: .audio, isKeyFrame: true, pts: Int64(index) * 1_024_000_000 / 48_000_000 * 1_000, dts: 0,
                bytes: ByteBuffer(bytes: random.bytes(Int.random(in: 100...4_000, using: &random))))
        }
        var link = try VirtualMediaLink(codec: MediaFixtures.aac, conditions: Self.bad, seed: 2)
        try link.run(frames)
        #expect(check(link, sent: frames) >= 594)
        #expect(link.receiver.statistics.pliCount == 0)
    }

    @Test("The first packets of the first key frame are requested when they are lost or overtaken")
    func lostBeginning() throws {
        let frames = VirtualMediaLink.pictures(.h264, count: 50, gop: 250, size: 8_000)
        for lost in 0..<4 {
            var link = try VirtualMediaLink(
                codec: MediaFixtures.h264, conditions: .init(), seed: 1, firstSequence: 100)
            link.losesPacket = { number, isRetransmission in !isRetransmission && Int(number) - 100 <= lost }
            try link.run(frames)
            #expect(link.frames.map(\.frame.bytes) == frames.map(\.bytes), "\(lost + 1) packets")
            #expect(link.lossCount == 0)
        }
    }

    @Test("They are also requested when most of the key frame has overtaken them")
    func lostBeginningBehind() throws {
        // Hundreds of packets in one burst.
        let frames = VirtualMediaLink.pictures(.h264, count: 4, gop: 250, size: 120_000)
        for seed in 1...20 as ClosedRange<UInt64> {
            var link = try VirtualMediaLink(
                codec: MediaFixtures.h264, conditions: .init(delay: .milliseconds(25), jitter: .milliseconds(30)),
                seed: seed, firstSequence: 100)
            link.losesPacket = { number, isRetransmission in !isRetransmission && number == 100 }
            try link.run(frames)
            let isWhole = link.frames.map(\.frame.bytes) == frames.map(\.bytes)
            #expect(isWhole, "seed \(seed): \(link.receiver.statistics)")
        }
    }

    @Test("A packet that never arrives is given up: one gap and one key frame request, and the stream continues")
    func givesUp() throws {
        let frames = VirtualMediaLink.pictures(.h264, count: 120, gop: 60, size: 8_000)
        var link = try VirtualMediaLink(codec: MediaFixtures.h264, conditions: .init(), seed: 1, firstSequence: 0)
        link.losesPacket = { number, _ in number == 100 }
        try link.run(frames)
        #expect(check(link, sent: frames) == frames.count - 1)
        #expect(link.lossCount == 1)
        let statistics = link.receiver.statistics
        #expect(statistics.packetsLost == 1 && statistics.packetsGivenUp == 1)
        #expect((5...10).contains(statistics.nackCount))
        #expect(statistics.pliCount >= 1)
        #expect(link.sender.statistics.pliCount == statistics.pliCount)
        #expect(link.sender.statistics.packetsLost == 1)
        // Later frames were held back for at most the give-up age.
        for case (let time, .frame(let frame)) in link.received {
            #expect(time - frame.lastArrival <= .milliseconds(1_010))
        }
    }
}
