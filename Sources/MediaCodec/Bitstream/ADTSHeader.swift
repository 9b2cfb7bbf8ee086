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

    var sampleRate: Int { AudioSpecificConfig.sampleRates[sampleRateIndex] }

    /// The equivalent AudioSpecificConfig, two bytes.
    var audioSpecificConfig: [UInt8] {
        let bits = objectType << 11 | sampleRateIndex << 7 | channelConfiguration << 3
        return [UInt8(bits >> 8 & 0xFF), UInt8(bits & 0xFF)]
    }
}
