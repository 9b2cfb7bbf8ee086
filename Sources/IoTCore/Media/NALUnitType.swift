/// The type of a NAL unit, from its first byte (ITU-T H.264 table 7-1, H.265 table 7-1).
public struct NALUnitType: Sendable, Hashable {
    public let codec: VideoCodec
    public let rawValue: UInt8

    public init(codec: VideoCodec, firstByte: UInt8) {
        self.codec = codec
        switch codec {
        case .h264: rawValue = firstByte & 0x1F
        case .h265: rawValue = firstByte >> 1 & 0x3F
        }
    }

    /// VPS, SPS or PPS.
    public var isParameterSet: Bool {
        switch codec {
        case .h264: rawValue == 7 || rawValue == 8
        case .h265: (32...34).contains(rawValue)
        }
    }

    public var isSequenceParameterSet: Bool {
        switch codec {
        case .h264: rawValue == 7
        case .h265: rawValue == 33
        }
    }

    /// A slice of a picture from which decoding can begin: IDR, and for H.265 BLA and CRA (types 16 to 21).
    public var isRandomAccess: Bool {
        switch codec {
        case .h264: rawValue == 5
        case .h265: (16...21).contains(rawValue)
        }
    }

    /// A coded slice of any picture.
    public var isSlice: Bool {
        switch codec {
        case .h264: (1...5).contains(rawValue)
        case .h265: rawValue < 32
        }
    }
}
