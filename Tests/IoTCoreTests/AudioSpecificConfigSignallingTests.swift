import IoTCore
import Testing

/// SBR and PS as a configuration can signal them (ISO/IEC 14496-3 §1.6.5, §1.6.6), written bit by bit according to
/// §1.6.2.1.
@Suite struct AudioSpecificConfigSignallingTests {
    /// The indices of both rates, the channel configuration, whether PS is signalled, and the expected result.
    static let rows: [(core: Int, extended: Int, channels: Int, ps: Bool, rates: [Int], heard: Int)] = [
        (6, 3, 2, false, [24_000, 48_000], 2),
        (7, 4, 2, false, [22_050, 44_100], 2),
        (8, 5, 1, false, [16_000, 32_000], 1),
        (6, 3, 6, false, [24_000, 48_000], 6),
        // SBR that keeps the rate ("downsampled").
        (3, 3, 2, false, [48_000, 48_000], 2),
        // PS turns one channel into two.
        (6, 3, 1, true, [24_000, 48_000], 2),
        (7, 4, 1, true, [22_050, 44_100], 2),
    ]

    @Test("Hierarchical and backward-compatible signalling give the same result", arguments: rows.indices)
    func bothForms(index: Int) throws {
        let row = Self.rows[index]
        let (core, extended, channels) = (Self.bits(row.core), Self.bits(row.extended), Self.bits(row.channels))
        let hierarchical = try #require(
            Self.read((row.ps ? "11101" : "00101") + core + channels + extended + "00010" + "000"))
        let compatible = try #require(
            Self.read(
                "00010" + core + channels + "000" + Self.sbr + "00101" + "1" + extended
                    + (row.ps ? Self.ps + "1" : "")))
        #expect(hierarchical == compatible)
        for configuration in [hierarchical, compatible] {
            #expect(configuration.objectType == 2)
            #expect(configuration.coreSampleRate == row.rates[0])
            #expect(configuration.extensionSampleRate == row.rates[1])
            #expect(configuration.sampleRate == row.rates[1])
            #expect(configuration.channels == row.heard)
            #expect(configuration.coreSamplesPerUnit == 1_024)
        }
    }

    /// Further configurations: the bits, and the expected rate, extension rate, channels and samples per access unit.
    static let others: [(bits: String, core: Int, extended: Int?, channels: Int, samples: Int)] = [
        // An explicit rate (index 15) after the sync word: 40,000 Hz in 24 bits.
        ("00010 0110 0010 000 \(sbr) 00101 1 1111 000000001001110001000000", 24_000, 40_000, 2, 1_024),
        // sbrPresentFlag and psPresentFlag are 0.
        ("00010 0110 0010 000 \(sbr) 00101 0", 24_000, nil, 2, 1_024),
        ("00010 0110 0001 000 \(sbr) 00101 1 0011 \(ps) 0", 24_000, 48_000, 1, 1_024),
        // Another sync word; a sync word that is cut off by the end of the configuration.
        ("00010 0110 0010 000 01010110110 00101 1 0011", 24_000, nil, 2, 1_024),
        ("00010 0110 0010 000 01010110", 24_000, nil, 2, 1_024),
        // After a program configuration (one front pair) with a comment of one byte.
        ("00010 0110 0000 000 \(onePair) 00000001 10101010 \(sbr) 00101 1 0011", 24_000, 48_000, 2, 1_024),
        // Error resilient LC (17): three extra flags, epConfig 0.
        ("10001 0110 0010 001 000 0 00 \(sbr) 00101 1 0011", 24_000, 48_000, 2, 1_024),
        // Scalable (6): layerNr comes first.
        ("00110 0110 0010 000 000 \(sbr) 00101 1 0011", 24_000, 48_000, 2, 1_024),
        // dependsOnCoreCoder: 14 bits of delay.
        ("00010 0110 0010 01 00000000000000 0 \(sbr) 00101 1 0011", 24_000, 48_000, 2, 1_024),
        // 960 samples; low delay (23) and enhanced low delay (39) with 512 and 480.
        ("00010 0011 0010 100", 48_000, nil, 2, 960),
        ("10111 0011 0010 000 00", 48_000, nil, 2, 512),
        ("10111 0011 0010 100 00", 48_000, nil, 2, 480),
        ("11111 000111 0011 0010 1 000", 48_000, nil, 2, 480),
        // Cut off after the core's object type.
        ("00101 0110 0010 0011 00010", 24_000, 48_000, 2, 1_024),
    ]

    @Test("Absent, refused and unusual extensions", arguments: others.indices)
    func unusual(index: Int) throws {
        let row = Self.others[index]
        let configuration = try #require(Self.read(row.bits))
        #expect(configuration.coreSampleRate == row.core)
        #expect(configuration.extensionSampleRate == row.extended)
        #expect(configuration.sampleRate == row.extended ?? row.core)
        #expect(configuration.channels == row.channels)
        #expect(configuration.coreSamplesPerUnit == row.samples)
    }

    @Test("A hierarchical configuration that ends before the core's object type, or has no legal rate, is refused")
    func refused() {
        #expect(Self.read("00101 0110 0010 001") == nil)
        #expect(Self.read("00101 0110 0010 1101 00010 000") == nil)
        #expect(Self.read("00101 0110 0010 1111 000000000000000000000000 00010 000") == nil)
    }

    /// A program_config_element up to its comment, aligned to a byte: front, side, back, low frequency, data, coupling.
    private static let onePair = "0000 01 0110 0001 0000 0000 00 000 0000 000 1 0000 0"

    /// syncExtensionType of SBR, 0x2B7, and of PS, 0x548.
    private static let sbr = "01010110111"
    private static let ps = "10101001000"

    private static func bits(_ value: Int) -> String {
        let digits = String(value, radix: 2)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }

    /// Filled up to whole bytes with zeros.
    private static func read(_ text: String) -> AudioSpecificConfig? {
        var digits = text.filter { $0 != " " }
        while !digits.count.isMultiple(of: 8) { digits += "0" }
        let bytes = stride(from: 0, to: digits.count, by: 8).map { offset in
            UInt8(digits.dropFirst(offset).prefix(8), radix: 2) ?? 0
        }
        return AudioSpecificConfig(bytes)
    }
}
