import NIOCore
import Testing

@testable import RTP

@Suite struct PacketRingTests {
    private func packet(_ sequence: Int64, size: Int = 1_000, isKeyFrameStart: Bool = false) -> MediaPacket {
        MediaPacket(
            payload: ByteBuffer(repeating: UInt8(truncatingIfNeeded: sequence), count: size), marker: true,
            timestamp: 0, sequence: sequence, isKeyFrameStart: isKeyFrameStart, pts: 0)
    }

    private func time(_ milliseconds: Int64) -> NIODeadline {
        .uptimeNanoseconds(0) + .milliseconds(milliseconds)
    }

    @Test("All packets within the bounds are found, and the newest key frame")
    func finds() {
        var ring = PacketRing()
        #expect(ring.sequences.isEmpty && ring.newestKeyFrameSequence == nil && ring.packet(sequence: 0) == nil)
        for sequence: Int64 in 0..<500 {
            ring.append(packet(sequence, isKeyFrameStart: sequence % 100 == 0), at: time(sequence * 2))
        }
        #expect(ring.sequences == 0..<500)
        #expect(ring.newestKeyFrameSequence == 400)
        #expect(ring.packet(sequence: 123)?.payload.getInteger(at: 0) == UInt8(123))
        #expect(ring.time(ofSequence: 3) == time(6))
        #expect(ring.packet(sequence: -1) == nil && ring.packet(sequence: 500) == nil)
        #expect(ring.byteCount == 500_000)
    }

    @Test("The oldest packets are removed when there are too many bytes; a GOP that does not fit has no key frame")
    func boundedByBytes() {
        var ring = PacketRing(maximumBytes: 10_000)
        for sequence: Int64 in 0..<10 { ring.append(packet(sequence, isKeyFrameStart: sequence == 0), at: time(0)) }
        #expect(ring.newestKeyFrameSequence == 0)
        ring.append(packet(10), at: time(0))
        #expect(ring.newestKeyFrameSequence == nil)
        #expect(ring.sequences == 1..<11)
        #expect(ring.byteCount == 10_000)
        ring.append(packet(11, isKeyFrameStart: true), at: time(0))
        #expect(ring.newestKeyFrameSequence == 11)
    }

    @Test("Packets are removed when they are too old; a GOP of ten seconds stays")
    func boundedByTime() {
        var ring = PacketRing()
        for sequence: Int64 in 0..<1_000 {
            ring.append(packet(sequence, isKeyFrameStart: sequence % 250 == 0), at: time(sequence * 40))
        }
        #expect(ring.newestKeyFrameSequence == 750)
        #expect(ring.sequences == 699..<1_000)
        ring.trim(at: time(60_000))
        #expect(ring.sequences.isEmpty && ring.byteCount == 0 && ring.newestKeyFrameSequence == nil)
    }

    @Test("A track that starts again empties the ring")
    func newTrack() {
        var ring = PacketRing()
        for sequence: Int64 in 0..<5 { ring.append(packet(sequence, isKeyFrameStart: sequence == 0), at: time(0)) }
        ring.append(packet(0), at: time(1))
        #expect(ring.sequences == 0..<1 && ring.newestKeyFrameSequence == nil && ring.byteCount == 1_000)
    }
}
