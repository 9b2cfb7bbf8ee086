/// What an AudioSpecificConfig says of an AAC stream (ISO/IEC 14496-3 §1.6.2.1).
public struct AudioSpecificConfig: Sendable, Hashable {
    /// The object type of the core stream: 2 for AAC-LC, also below SBR and PS.
    public let objectType: Int

    /// The core's samples a second.
    public let coreSampleRate: Int

    /// Samples a second after explicitly signalled SBR; otherwise the core's.
    public let sampleRate: Int

    /// Channels after explicitly signalled PS; 0 when the stream itself says them.
    public let channels: Int

    /// Core samples in one access unit: 1024 or 960.
    public let coreSamplesPerUnit: Int

    /// `nil` for a configuration that ends early or has an illegal sampling rate.
    public init?(_ bytes: [UInt8]) {
        var reader = BitReader(bytes)
        guard var objectType = Self.readObjectType(&reader), let coreSampleRate = Self.readSampleRate(&reader),
            let configuration = reader.read(4)
        else { return nil }

        var sampleRate = coreSampleRate
        var hasParametricStereo = objectType == 29
        var isExtensionKnown = false
        if objectType == 5 || objectType == 29 {
            // Hierarchical signalling: the extension's rate, then the core's own object type.
            guard let extended = Self.readSampleRate(&reader), let core = Self.readObjectType(&reader)
            else { return nil }
            sampleRate = extended
            objectType = core
            isExtensionKnown = true
            if core == 22, reader.read(4) == nil { return nil }
        }

        // GASpecificConfig, §4.4.1
        guard let isShort = reader.read(1), let dependsOnCore = reader.read(1) else { return nil }
        if dependsOnCore == 1, reader.read(14) == nil { return nil }
        guard reader.read(1) != nil else { return nil }
        var channels = Self.channels(configuration)
        if configuration == 0 {
            // Behind a program configuration comes a comment; the extension behind that is not looked for.
            channels = Self.readProgramConfiguration(&reader) ?? 0
            isExtensionKnown = true
        }

        // Backward compatible signalling (§1.6.6.1): a sync word, SBR, a sync word, PS.
        if !isExtensionKnown, reader.remainingBits >= 16, reader.read(11) == 0x2B7,
            Self.readObjectType(&reader) == 5, reader.read(1) == 1
        {
            guard let extended = Self.readSampleRate(&reader) else { return nil }
            sampleRate = extended
            if reader.remainingBits >= 12, reader.read(11) == 0x548 { hasParametricStereo = reader.read(1) == 1 }
        }

        self.objectType = objectType
        self.coreSampleRate = coreSampleRate
        self.sampleRate = sampleRate
        self.channels = hasParametricStereo && channels == 1 ? 2 : channels
        self.coreSamplesPerUnit = isShort == 1 ? 960 : 1_024
    }

    private static func readObjectType(_ reader: inout BitReader) -> Int? {
        guard let type = reader.read(5) else { return nil }
        guard type == 31 else { return Int(type) }
        return reader.read(6).map { 32 + Int($0) }
    }

    private static let sampleRates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]

    private static func readSampleRate(_ reader: inout BitReader) -> Int? {
        guard let index = reader.read(4) else { return nil }
        if index == 15 { return reader.read(24).flatMap { $0 > 0 ? Int($0) : nil } }
        return index < sampleRates.count ? sampleRates[Int(index)] : nil
    }

    /// ISO/IEC 14496-3 table 1.19.
    private static func channels(_ configuration: UInt32) -> Int {
        switch configuration {
        case 1...6: Int(configuration)
        case 7, 12, 14: 8
        case 11: 7
        default: 0
        }
    }

    /// program_config_element (§4.4.1.1) as far as the channel lists.
    private static func readProgramConfiguration(_ reader: inout BitReader) -> Int? {
        guard reader.read(4 + 2 + 4) != nil, let front = reader.read(4), let side = reader.read(4),
            let back = reader.read(4), let lowFrequency = reader.read(2), reader.read(3 + 4) != nil
        else { return nil }
        for width in [4, 4, 3] {  // mono, stereo and matrix mix-down
            guard let isPresent = reader.read(1) else { return nil }
            if isPresent == 1, reader.read(width) == nil { return nil }
        }
        var channels = Int(lowFrequency)
        for _ in 0..<(front + side + back) {
            guard let isPair = reader.read(1), reader.read(4) != nil else { return nil }
            channels += isPair == 1 ? 2 : 1
        }
        return channels
    }
}
