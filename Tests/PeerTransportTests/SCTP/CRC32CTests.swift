import TestSupport
import Testing

@testable import PeerTransport

@Suite struct CRC32CTests {
    private func checksum(_ bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBytes { CRC32C.checksum($0) }
    }

    @Test("The test vectors of RFC 3720 appendix B.4 match")
    func vectors() {
        // The RFC prints the bytes in order of transmission: these are the same, least significant byte first.
        #expect(checksum([UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
        #expect(checksum([UInt8](repeating: 0xFF, count: 32)) == 0x62A8_AB43)
        #expect(checksum(Array(0...31)) == 0x46DD_794E)
        #expect(checksum((0...31).reversed()) == 0x113F_DB5C)
        let command: [UInt8] =
            [0x01, 0xC0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 0x04, 0, 0, 0, 0, 0x14]
            + [0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0, 0]
        #expect(checksum(command) == 0xD996_3A56)
        #expect(checksum(Array("123456789".utf8)) == 0xE306_9283)
        #expect(checksum([]) == 0)
    }

    @Test("Inputs of any length match the bit-by-bit definition")
    func lengths() {
        var random = SeededGenerator(seed: 4)
        for count in 0..<40 {
            let bytes = random.bytes(count)
            var value = UInt32.max
            for byte in bytes {
                value ^= UInt32(byte)
                for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0x82F6_3B78 : value >> 1 }
            }
            #expect(checksum(bytes) == ~value)
        }
    }
}
