import IoTCore

/// The header of an ADTS frame (ISO/IEC 14496-3 §1.A.2.2). RTP and MP4 omit it.
struct ADTSHeader: Equatable {
    /// 7 bytes, or 9 with a checksum.
    var length: Int
    /// The length of the whole frame, including the header.
    var frameLength: Int
    var sampleRateIndex: Int
    var channelConfiguration: Int
    /// `profile_ObjectType` + 1.
    var objectType: Int
    /// A frame may hold up to four access units.
    var accessUnits: Int

    /// Nil if `bytes` does not begin with an ADTS header. A bare AAC access unit never begins with the sync word.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 7, bytes[0] == 0xFF, bytes[1] & 0xF6 == 0xF0 else { return nil }
        length = bytes[1] & 1 == 1 ? 7 : 9
        objectType = Int(bytes[2] >> 6) + 1
        sampleRateIndex = Int(bytes[2] >> 2 & 0xF)
        channelConfiguration = Int(bytes[2] & 1) << 2 | Int(bytes[3] >> 6)
        frameLength = Int(bytes[3] & 3) << 11 | Int(bytes[4]) << 3 | Int(bytes[5] >> 5)
        accessUnits = Int(bytes[6] & 3) + 1
        guard sampleRateIndex < AudioSpecificConfig.sampleRates.count, frameLength > length else { return nil }
    }

    /// The header of a frame without a checksum; `nil` if ADTS cannot express the AudioSpecificConfig: an object type
    /// above 4, a sample rate of its own, or channels of its own.
    init?(describing config: [UInt8]) {
        guard config.count >= 2 else { return nil }
        let bits = Int(config[0]) << 8 | Int(config[1])
        objectType = bits >> 11
        sampleRateIndex = bits >> 7 & 0xF
        channelConfiguration = bits >> 3 & 0xF
        guard 1...4 ~= objectType, sampleRateIndex < AudioSpecificConfig.sampleRates.count,
            1...7 ~= channelConfiguration
        else { return nil }
        (length, frameLength, accessUnits) = (7, 7, 1)
    }

    /// The header's bytes, without a checksum.
    var bytes: [UInt8] {
        [
            0xFF, 0xF1,
            UInt8((objectType - 1) << 6 | sampleRateIndex << 2 | channelConfiguration >> 2),
            UInt8((channelConfiguration & 3) << 6 | frameLength >> 11 & 3), UInt8(frameLength >> 3 & 0xFF),
            UInt8((frameLength & 7) << 5 | 0x1F), UInt8(0xFC | (accessUnits - 1)),
        ]
    }

    var sampleRate: Int { AudioSpecificConfig.sampleRates[sampleRateIndex] }

    /// The equivalent AudioSpecificConfig, two bytes.
    var audioSpecificConfig: [UInt8] {
        let bits = objectType << 11 | sampleRateIndex << 7 | channelConfiguration << 3
        return [UInt8(bits >> 8 & 0xFF), UInt8(bits & 0xFF)]
    }
}
