/// An AudioSpecificConfig, which describes an AAC stream (ISO/IEC 14496-3 §1.6.2.1).
///
/// SBR and PS can be signalled in two ways (§1.6.5, §1.6.6): hierarchically, before the core's object type, or after
/// the core's configuration, where decoders that support neither ignore them. Both mean the same. Implicit signalling,
/// in the stream alone, is not visible here.
public struct AudioSpecificConfig: Sendable, Hashable {
    /// The object type of the core stream: 2 for AAC-LC, with or without SBR and PS.
    public private(set) var objectType: Int

    /// The sample rate of the core stream, in Hz.
    public private(set) var coreSampleRate: Int

    /// The sample rate after SBR, in Hz; `nil` if SBR is not signalled.
    public private(set) var extensionSampleRate: Int?

    /// The number of channels, after PS if that is signalled; 0 if only the stream itself has it.
    public private(set) var channels: Int

    /// Core samples in one access unit: 1024 or 960; 512 or 480 for the low-delay types.
    public private(set) var coreSamplesPerUnit = 1_024

    /// The sample rate after SBR if that is signalled, otherwise the core's, in Hz.
    public var sampleRate: Int { extensionSampleRate ?? coreSampleRate }

    private var hasParametricStereo = false

    /// The configuration of AAC-LC without extensions; `nil` for a sample rate or channel count without an index.
    package static func lowComplexity(sampleRate: Int, channels: Int) -> [UInt8]? {
        guard let index = sampleRates.firstIndex(of: sampleRate), (1...6).contains(channels) else { return nil }
        let bits = UInt16(2) << 11 | UInt16(index) << 7 | UInt16(channels) << 3
        return [UInt8(bits >> 8), UInt8(bits & 0xFF)]
    }

    /// By `samplingFrequencyIndex` (table 1.18).
    package static let sampleRates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]

    private enum ObjectType {
        static let scalable = 6
        static let spectralBandReplication = 5
        static let errorResilientScalable = 20
        static let bitSlicedArithmeticCoding = 22
        static let lowDelay = 23
        static let parametricStereo = 29
        static let enhancedLowDelay = 39

        /// The types with a GASpecificConfig (table 1.15).
        static let general: Set = [1, 2, 3, 4, 6, 7, 17, 19, 20, 21, 22, 23]

        /// The types with resilience flags for sections, scale factors and spectrum (§4.4.1).
        static let resilient: Set = [17, 19, 20, 23]

        /// The types that an `epConfig` follows.
        static let protected: Set = [17, 19, 20, 21, 22, 23]
    }

    /// `nil` for a configuration that ends before the core's object type, or has an illegal sampling rate.
    public init?(_ bytes: [UInt8]) {
        var reader = BitReader(bytes)
        do {
            objectType = try Self.readObjectType(&reader)
            coreSampleRate = try Self.readSampleRate(&reader)
            let configuration = try reader.bits(4)
            channels = Self.channels(configuration)
            if objectType == ObjectType.spectralBandReplication || objectType == ObjectType.parametricStereo {
                // Hierarchical signalling: the extension's rate, then the core's own object type.
                hasParametricStereo = objectType == ObjectType.parametricStereo
                extensionSampleRate = try Self.readSampleRate(&reader)
                objectType = try Self.readObjectType(&reader)
                if objectType == ObjectType.bitSlicedArithmeticCoding { try reader.skip(4) }
            }
            // If the rest is cut off, the usual values apply, as in libav.
            try? readRest(&reader, configuration: configuration)
        } catch {
            return nil
        }
        if hasParametricStereo, channels == 1 { channels = 2 }
    }

    private mutating func readRest(
        _ reader: inout BitReader, configuration: Int
    ) throws(BitReader.EndOfBits) {
        let isLowDelay = objectType == ObjectType.lowDelay || objectType == ObjectType.enhancedLowDelay
        if isLowDelay { coreSamplesPerUnit = 512 }
        guard ObjectType.general.contains(objectType) || isLowDelay else { return }
        if try reader.flag() { coreSamplesPerUnit = isLowDelay ? 480 : 960 }
        // The rest of an ELDSpecificConfig is not needed here, and no extension follows it.
        guard objectType != ObjectType.enhancedLowDelay else { return }
        try readGeneralConfiguration(&reader, configuration: configuration)
        if ObjectType.protected.contains(objectType), try reader.bits(2) > 1 {
            // An ErrorProtectionSpecificConfig is not parsed, so its end is unknown.
            return
        }
        guard extensionSampleRate == nil else { return }
        try readExtension(&reader)
    }

    /// GASpecificConfig (§4.4.1) after `frameLengthFlag`.
    private mutating func readGeneralConfiguration(
        _ reader: inout BitReader, configuration: Int
    ) throws(BitReader.EndOfBits) {
        if try reader.flag() { try reader.skip(14) }  // coreCoderDelay
        let hasExtension = try reader.flag()
        if configuration == 0 { try readProgramConfiguration(&reader) }
        if [ObjectType.scalable, ObjectType.errorResilientScalable].contains(objectType) { try reader.skip(3) }
        guard hasExtension else { return }
        if objectType == ObjectType.bitSlicedArithmeticCoding { try reader.skip(5 + 11) }
        if ObjectType.resilient.contains(objectType) { try reader.skip(3) }
        try reader.skip(1)
    }

    /// Backward-compatible signalling: a sync word, SBR, a sync word, PS.
    private mutating func readExtension(_ reader: inout BitReader) throws(BitReader.EndOfBits) {
        guard reader.bitsLeft >= 16, try reader.bits(11) == 0x2B7,
            try Self.readObjectType(&reader) == ObjectType.spectralBandReplication, try reader.flag()
        else { return }
        extensionSampleRate = try Self.readSampleRate(&reader)
        guard reader.bitsLeft >= 12, try reader.bits(11) == 0x548 else { return }
        hasParametricStereo = try reader.flag()
    }

    private static func readObjectType(_ reader: inout BitReader) throws(BitReader.EndOfBits) -> Int {
        let type = try reader.bits(5)
        return type == 31 ? 32 + (try reader.bits(6)) : type
    }

    private static func readSampleRate(_ reader: inout BitReader) throws(BitReader.EndOfBits) -> Int {
        let index = try reader.bits(4)
        let rate = index == 15 ? try reader.bits(24) : index < sampleRates.count ? sampleRates[index] : 0
        guard rate > 0 else { throw BitReader.EndOfBits() }
        return rate
    }

    /// Table 1.19.
    private static func channels(_ configuration: Int) -> Int {
        switch configuration {
        case 1...6: configuration
        case 7, 12, 14: 8
        case 11: 7
        default: 0
        }
    }

    /// program_config_element (§4.4.1.1).
    private mutating func readProgramConfiguration(_ reader: inout BitReader) throws(BitReader.EndOfBits) {
        try reader.skip(4 + 2 + 4)
        let speakers = try reader.bits(4) + (try reader.bits(4)) + (try reader.bits(4))
        let lowFrequency = try reader.bits(2)
        let associatedData = try reader.bits(3)
        let coupling = try reader.bits(4)
        for width in [4, 4, 3] {  // mono, stereo and matrix mix-down
            if try reader.flag() { try reader.skip(width) }
        }
        var channels = lowFrequency
        for _ in 0..<speakers {
            channels += try reader.flag() ? 2 : 1
            try reader.skip(4)
        }
        self.channels = channels
        try reader.skip(4 * (lowFrequency + associatedData) + 5 * coupling)
        // Byte alignment is relative to the configuration's start. A comment follows.
        try reader.skip(reader.bitsLeft % 8)
        try reader.skip(8 * (try reader.bits(8)))
    }
}
