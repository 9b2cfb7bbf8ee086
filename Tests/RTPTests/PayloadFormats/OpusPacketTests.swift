import IoTCore
import NIOCore
import RTPTestSupport
import TestSupport
import Testing

@testable import RTP

@Suite struct OpusPacketTests {
    @Test(
        "RFC 6716 §3.1: configuration, channels and frame count are parsed",
        arguments: [
            // Hand-written from table 2 and figures 2 to 6.
            ("08", 960, 1, 1), ("fc 01 02", 960, 1, 2), ("e0 01", 120, 1, 1), ("19 0102", 2_880, 2, 1),
            ("7e 01 aa bbcc", 960, 2, 2), ("fb 03 010203", 960, 3, 1), ("fb 83 01 02 aabb cc", 960, 3, 1),
            ("fb 42 02 0102 0000", 960, 2, 1), ("48", 960, 1, 1),
        ])
    func reads(hex: String, samples: Int, frames: Int, channels: Int) throws {
        let packet = try #require(OpusPacket(ByteBuffer(hex: hex)))
        #expect(packet.samplesPerFrame == samples && packet.frameCount == frames)
        #expect(packet.channels == channels && packet.samples == samples * frames)
    }

    @Test(
        "RFC 6716 §3.4: packets that violate a rule are rejected",
        arguments: [
            "",  // R1
            "09 010203",  // R3: two frames of equal size in an odd number of bytes
            "0a", "0a fc", "0a 05 0102",  // R4
            "0b", "0b 00", "1b 03 010203", "0b 02 010203", "0b 42 ff", "0b 42 05 0102", "0b 83 01",  // R5 to R7
        ])
    func refuses(hex: String) {
        #expect(OpusPacket(ByteBuffer(hex: hex)) == nil)
    }

    @Test("A frame over 1275 bytes is rejected (R2)")
    func tooLong() {
        #expect(OpusPacket(ByteBuffer(bytes: [8] + Array(repeating: 0, count: 1_275))) != nil)
        #expect(OpusPacket(ByteBuffer(bytes: [8] + Array(repeating: 0, count: 1_276))) == nil)
    }

    @Test("Random bytes never trap, and accepted packets last 2.5 to 120 ms")
    func noise() {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<20_000 {
            let bytes = random.bytes(Int.random(in: 0...40, using: &random))
            if let packet = OpusPacket(ByteBuffer(bytes: bytes)) {
                #expect((120...5_760).contains(packet.samples))
            }
        }
    }
}
