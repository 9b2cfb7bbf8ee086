import IoTCore
import TestSupport
import Testing

@Suite struct AudioSpecificConfigTests {
    /// Configurations as encoders write them, decoded by hand according to ISO/IEC 14496-3 §1.6.2.1.
    static let cases: [(hex: String, type: Int, core: Int, rate: Int, channels: Int, samples: Int)] = [
        ("1210", 2, 44_100, 44_100, 2, 1_024),
        ("1188", 2, 48_000, 48_000, 1, 1_024),
        ("11b0", 2, 48_000, 48_000, 6, 1_024),
        ("1194", 2, 48_000, 48_000, 2, 960),
        // Hierarchical HE-AAC: type 5, core 24 kHz, stereo, extension 48 kHz, type 2.
        ("2b118800", 2, 24_000, 48_000, 2, 1_024),
        // Backward compatible HE-AAC: LC at 22.05 kHz, sync word 0x2b7, SBR at 44.1 kHz.
        ("139056e5a0", 2, 22_050, 44_100, 2, 1_024),
        // HE-AAC v2: type 29, core 24 kHz mono; PS makes it stereo.
        ("eb098800", 2, 24_000, 48_000, 2, 1_024),
        // Backward compatible with PS: mono at 22.05 kHz, SBR at 44.1 kHz, sync word 0x548, PS.
        ("138856e5a54880", 2, 22_050, 44_100, 2, 1_024),
        // An explicit rate: index 15, 12345 Hz in 24 bits, stereo.
        ("1780181c90", 2, 12_345, 12_345, 2, 1_024),
        // Channel configuration 0 with a program configuration: one front pair.
        ("1180" + "04c4000020" + "00", 2, 48_000, 48_000, 2, 1_024),
    ]

    @Test("Rate and channels of AAC-LC, 5.1, HE-AAC and HE-AAC v2", arguments: 0..<cases.count)
    func configurations(index: Int) throws {
        let (hex, type, core, rate, channels, samples) = Self.cases[index]
        let configuration = try #require(AudioSpecificConfig(Hex.decode(hex) ?? []))
        #expect(configuration.objectType == type)
        #expect(configuration.coreSampleRate == core)
        #expect(configuration.sampleRate == rate)
        #expect(configuration.channels == channels)
        #expect(configuration.coreSamplesPerUnit == samples)
    }

    @Test("A configuration that ends early or has an illegal rate is refused without a trap")
    func refused() {
        #expect(AudioSpecificConfig([]) == nil)
        #expect(AudioSpecificConfig([0x12]) == nil)
        #expect(AudioSpecificConfig([0x16, 0x90]) == nil)  // rate index 13
        #expect(AudioSpecificConfig([0x17, 0x80, 0, 0, 0x10]) == nil)  // a rate of 0
        var random = SeededGenerator(seed: 1)
        for _ in 0..<5_000 {
            _ = AudioSpecificConfig(random.bytes(Int.random(in: 0...12, using: &random)))
        }
    }
}
