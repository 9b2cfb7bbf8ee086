import IoTCore
import NIOCore
import RTPTestSupport
import TestSupport
import Testing

@testable import RTP

@Suite struct PacketRunTests {
    private static let now = NIODeadline.uptimeNanoseconds(1_000_000_000)

    private func ring(_ frames: Int, using random: inout SeededGenerator) throws -> PacketRing {
        var packetizer = Packetizer(codec: MediaFixtures.h264)
        var ring = PacketRing()
        for index in 0..<frames {
            let frame = MediaFixtures.picture(
                .h264, isKeyFrame: index % 4 == 0, size: 5_000, pts: Int64(index) * 40_000, using: &random)
            for packet in try packetizer.packetize(frame) { ring.append(packet, at: Self.now) }
        }
        return ring
    }

    private func sender(_ ssrc: UInt32, number: UInt16) -> RTPSender {
        RTPSender(
            codec: MediaFixtures.h264, ssrc: ssrc, canonicalName: "a", initialSequenceNumber: number,
            timestampOffset: ssrc &* 77)
    }

    /// The packets as a sender writes them one by one.
    private func expected(_ ring: PacketRing, from first: Int64, _ sender: inout RTPSender, channel: UInt8?)
        -> ByteBuffer
    {
        var bytes = ByteBuffer()
        for sequence in first..<ring.sequences.upperBound {
            guard let packet = ring.packet(sequence: sequence) else { continue }
            if let channel {
                let size = UInt16(RTPPacket.minimumHeaderSize + packet.payload.readableBytes)
                bytes.writeMultipleIntegers(UInt8(ascii: "$"), channel, size)
            }
            sender.write(packet, into: &bytes, at: Self.now)
        }
        return bytes
    }

    @Test(
        "Each viewer gets the same bytes as from a sender that writes packet by packet",
        arguments: [nil, 4] as [UInt8?])
    func sameBytes(channel: UInt8?) throws {
        var random = SeededGenerator(seed: 3)
        let ring = try ring(3, using: &random)
        let run = PacketRun(isInterleaved: channel != nil)
        // The sequence numbers wrap.
        for (ssrc, number) in [(7, 100), (8, 65_533), (9, 2_040)] as [(UInt32, UInt16)] {
            var (ours, theirs) = (sender(ssrc, number: number), sender(ssrc, number: number))
            for first in [ring.sequences.lowerBound, ring.sequences.upperBound - 2] {
                #expect(run.take(ring, from: first, payloadType: 96))
                let header = PacketRun.Header(
                    ssrc: ssrc, sequenceNumber: ours.send(run, at: Self.now), channel: channel ?? 0)
                run.write(header) { ours.timestamp(ofMicroseconds: $0) }
                #expect(run.bytes == expected(ring, from: first, &theirs, channel: channel))
            }
            #expect(ours.statistics == theirs.statistics)
            #expect(ours.upcomingSequenceNumber == theirs.upcomingSequenceNumber)
            for sequence in ring.sequences {
                #expect(
                    ours.sequenceNumber(ofTrackSequence: sequence) == theirs.sequenceNumber(ofTrackSequence: sequence))
            }
        }
    }

    @Test("A run is made again when the track has more packets, and refused if the first is gone or the run too long")
    func refused() throws {
        var random = SeededGenerator(seed: 4)
        var ring = try ring(2, using: &random)
        let run = PacketRun(isInterleaved: false)
        #expect(run.take(ring, from: 1, payloadType: 96) && run.sequences == 1..<ring.sequences.upperBound)
        let size = run.bytes.readableBytes
        ring.append(
            MediaPacket(
                payload: ByteBuffer(bytes: [1, 2, 3]), marker: true, timestamp: 0, sequence: ring.sequences.upperBound,
                isKeyFrameStart: false, pts: 99), at: Self.now)
        #expect(run.take(ring, from: 1, payloadType: 96) && run.bytes.readableBytes == size + 15)
        #expect(run.times.last == 99 && run.endsFrame)
        #expect(!run.take(ring, from: ring.sequences.upperBound, payloadType: 96) && run.sequences.isEmpty)
        #expect(!run.take(ring, from: -1, payloadType: 96))
        let long = try self.ring(40, using: &random)
        #expect(!run.take(long, from: 0, payloadType: 96) && run.bytes.readableBytes == 0)
    }

    @Test("The kernel may split equal packets, of which the last may be smaller")
    func segments() throws {
        var ring = PacketRing()
        for (sequence, size) in [300, 300, 300, 20, 20, 40].enumerated() {
            ring.append(
                MediaPacket(
                    payload: ByteBuffer(repeating: 1, count: size), marker: false, timestamp: 0,
                    sequence: Int64(sequence),
                    isKeyFrameStart: false, pts: 0), at: Self.now)
        }
        let run = PacketRun(isInterleaved: false)
        #expect(run.take(ring, from: 0, payloadType: 96))
        #expect((0..<6).map { run.segmentCount(from: $0, maximum: 64) } == [4, 3, 2, 2, 1, 1])
        #expect(run.segmentCount(from: 0, maximum: 2) == 2)
    }
}
