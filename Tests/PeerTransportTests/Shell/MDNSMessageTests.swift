import NIOCore
import RTPTestSupport
import TestSupport
import Testing

@testable import PeerTransport

@Suite struct MDNSMessageTests {
    /// A response that repeats the question, with two answers whose names are pointers to it.
    static func response() -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeMultipleIntegers(UInt16(0), UInt16(0x8400), UInt16(1), UInt16(2), UInt16(0), UInt16(0))
        buffer.writeBytes([4] + Array("1F0E".utf8) + [5] + Array("local".utf8) + [0])
        buffer.writeMultipleIntegers(UInt16(1), UInt16(1))
        buffer.writeBytes([0xC0, 12])
        buffer.writeMultipleIntegers(UInt16(1), UInt16(0x8001), UInt32(120), UInt16(4))
        buffer.writeBytes([192, 0, 2, 7])
        buffer.writeBytes([0xC0, 12])
        buffer.writeMultipleIntegers(UInt16(28), UInt16(0x8001), UInt32(120), UInt16(16))
        buffer.writeBytes([0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9])
        return buffer
    }

    @Test("A query asks for both kinds of addresses of the name")
    func query() {
        #expect(
            MDNSMessage.query("ab.local")?.hex
                == "000000000002000000000000" + "026162056c6f63616c00" + "00010001" + "c00c" + "001c0001")
        #expect(MDNSMessage.query(String(repeating: "a", count: 64) + ".local") == nil)
    }

    @Test("Addresses are read with their names, compressed or not, in lower case")
    func answers() throws {
        let found = MDNSMessage.addresses(in: Self.response())
        #expect(found.map(\.name) == ["1f0e.local", "1f0e.local"])
        #expect(found.map(\.address.ipAddress) == ["192.0.2.7", "2001:db8::9"])
    }

    @Test("A query is not a response, a name that points to itself ends, and truncated or random bytes do not trap")
    func hostile() throws {
        #expect(MDNSMessage.addresses(in: try #require(MDNSMessage.query("ab.local"))).isEmpty)
        var loop = ByteBuffer()
        loop.writeMultipleIntegers(UInt16(0), UInt16(0x8400), UInt16(0), UInt16(1), UInt16(0), UInt16(0))
        loop.writeBytes([0xC0, 12])
        #expect(MDNSMessage.addresses(in: loop).isEmpty)
        let whole = Self.response()
        for length in 0..<whole.readableBytes {
            #expect(MDNSMessage.addresses(in: ByteBuffer(whole.readableBytesView.prefix(length))).count < 2)
        }
        var random = SeededGenerator(seed: 6762)
        for _ in 0..<3000 {
            var bytes = Array(whole.readableBytesView)
            for _ in 0..<4 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = MDNSMessage.addresses(in: ByteBuffer(bytes: bytes))
        }
    }
}
