/// AAC's AudioSpecificConfig (ISO/IEC 14496-3 §1.6.2.1), as far as a demuxer and a muxer need it.
struct AudioSpecificConfig: Equatable {
    /// 2 is AAC LC; of HE-AAC this is the core's, also 2.
    var objectType = 0
    /// Samples a second of the core, before spectral band replication.
    var coreSampleRate = 0
    /// 0: told by a program config element.
    var channelConfiguration = 0
    /// Samples a second after spectral band replication, where it is told.
    var extensionSampleRate: Int?
    /// 960 or 1024 samples of the core in one access unit.
    var coreFrameLength = 1024

    static let sampleRates = [
        96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350,
    ]

    /// Nil for garbage.
    init?(_ bytes: [UInt8]) {
        var reader = BitReader(bytes)
        do {
            try parse(&reader)
        } catch {
            return nil
        }
    }

    private mutating func parse(_ reader: inout BitReader) throws(BitReader.EndOfBits) {
        objectType = try Self.objectType(&reader)
        coreSampleRate = try Self.sampleRate(&reader)
        channelConfiguration = try reader.bits(4)
        // 5 is spectral band replication, 29 with parametric stereo: the core's own type stands behind them.
        if objectType == 5 || objectType == 29 {
            extensionSampleRate = try Self.sampleRate(&reader)
            objectType = try Self.objectType(&reader)
        }
        coreFrameLength = (try? reader.flag()) == true ? 960 : 1024
    }

    private static func objectType(_ reader: inout BitReader) throws(BitReader.EndOfBits) -> Int {
        let type = try reader.bits(5)
        return type == 31 ? 32 + (try reader.bits(6)) : type
    }

    private static func sampleRate(_ reader: inout BitReader) throws(BitReader.EndOfBits) -> Int {
        let index = try reader.bits(4)
        if index == 15 { return try reader.bits(24) }
        guard index < sampleRates.count else { throw BitReader.EndOfBits() }
        return sampleRates[index]
    }

    /// Channels of configurations 1 to 7 and 11, 12, 14 (ISO/IEC 14496-3 table 1.19).
    var channels: Int? {
        switch channelConfiguration {
        case 1...6: channelConfiguration
        case 7, 12, 14: 8
        case 11: 7
        default: nil
        }
    }
}
