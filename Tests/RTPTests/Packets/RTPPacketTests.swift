import IoTCore
import NIOCore
import RTPTestSupport
import Testing

@testable import RTP

@Suite struct RTPPacketTests {
    /// Hand-written from RFC 3550 §5.1: version 2, padding, extension, two CSRCs, marker, payload type 96.
    static let full = """
        b2 e0 1234 deadbeef cafebabe 00000001 00000002
        bede 0002 10aa 00 2101 02 0000
        0102030405 000003
        """

    @Test("All header fields are parsed, and padding is removed")
    func everyField() throws {
        let packet = try RTPPacket(parsing: ByteBuffer(hex: Self.full))
        #expect(packet.payloadType == 96)
        #expect(packet.marker)
        #expect(packet.sequenceNumber == 0x1234)
        #expect(packet.timestamp == 0xDEAD_BEEF)
        #expect(packet.ssrc == 0xCAFE_BABE)
        #expect(packet.csrcs == [1, 2])
        #expect(packet.payload.hex == "0102030405")
        let elements = try #require(packet.headerExtension).elements
        #expect(elements.map(\.identifier) == [1, 2])
        #expect(elements.map(\.data.hex) == ["aa", "0102"])
    }

    @Test("A written packet is parsed back unchanged")
    func writtenIsRead() throws {
        var packet = try RTPPacket(parsing: ByteBuffer(hex: Self.full))
        packet.headerExtension = RTPHeaderExtension(profile: 0x1000, data: ByteBuffer(hex: "0502 aabb 0600 00"))
        var buffer = ByteBuffer()
        packet.write(into: &buffer)
        let read = try RTPPacket(parsing: buffer)
        #expect(read.csrcs == packet.csrcs && read.payload == packet.payload && read.timestamp == packet.timestamp)
        #expect(read.headerExtension?.elements.map(\.identifier) == [5, 6])
        #expect(read.headerExtension?.elements.map(\.data.readableBytes) == [2, 0])
    }

    @Test(
        "Malformed headers are rejected",
        arguments: [
            "", "80", "80600001000000020000",  // short
            "40600001 00000002 00000003", "c0600001 00000002 00000003",  // versions 1 and 3
            "81600001 00000002 00000003", "81600001 00000002 00000003 0000",  // CSRC missing
            "90600001 00000002 00000003 bede", "90600001 00000002 00000003 bede0001 000000",  // extension cut
            "a0600001 00000002 00000003", "a0600001 00000002 00000003 00",  // no padding, padding length 0
            "a0600001 00000002 00000003 05",  // padding beyond the packet
        ])
    func damagedHeaders(hex: String) {
        #expect(throws: IoTError.self) { try RTPPacket(parsing: ByteBuffer(hex: hex)) }
    }

    @Test("Packets truncated at any length or with flipped bits never trap")
    func neverTraps() {
        let whole = ByteBuffer(hex: Self.full)
        for length in 0...whole.readableBytes {
            if let packet = try? RTPPacket(parsing: whole.getSlice(at: 0, length: length) ?? ByteBuffer()) {
                _ = packet.headerExtension?.elements
            }
        }
        for bit in 0..<(whole.readableBytes * 8) {
            var bytes = whole
            bytes.setInteger((bytes.getInteger(at: bit / 8, as: UInt8.self) ?? 0) ^ UInt8(1 << (bit % 8)), at: bit / 8)
            if let packet = try? RTPPacket(parsing: bytes) { _ = packet.headerExtension?.elements }
        }
    }
}
