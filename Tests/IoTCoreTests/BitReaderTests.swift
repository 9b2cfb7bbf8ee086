import IoTCore
import Testing

@Suite struct BitReaderTests {
    @Test("Fields across bytes, Exp-Golomb numbers, and the end")
    func fields() throws {
        // 101 00110010 1 | 1, 010, 011, 00100 as ue(v): 0, 1, 2, 3
        var reader = BitReader([0b1010_0110, 0b0101_1010, 0b0110_0100])
        let (first, second, flag) = (try reader.bits(3), try reader.bits(8), try reader.flag())
        #expect((first, second, flag) == (0b101, 0b0011_0010, true))
        let numbers = [try reader.unsignedExpGolomb(), try reader.unsignedExpGolomb(), try reader.signedExpGolomb()]
        #expect(numbers == [0, 1, -1])
        #expect(reader.bitsLeft == 5)
        #expect(throws: BitReader.EndOfBits.self) { try reader.bits(6) }
        #expect(throws: BitReader.EndOfBits.self) { try reader.skip(-1) }
        // A failed read consumes nothing.
        let last = try reader.unsignedExpGolomb()
        #expect(last == 3)
        #expect(throws: BitReader.EndOfBits.self) { try reader.flag() }
        let nothing = try reader.bits(0)
        #expect(nothing == 0)
    }

    @Test("Emulation prevention bytes are removed")
    func emulationPrevention() throws {
        var reader = BitReader(nalUnit: [0x67, 0, 0, 3, 1, 0, 0, 3, 0, 0, 3], headerLength: 1)
        #expect(reader.bitsLeft == 7 * 8)
        let numbers = [try reader.bits(24), try reader.bits(32)]
        #expect(numbers == [1, 0])
    }
}
