import IoTCore

/// H.264's profiles as `profile-level-id` tells them apart (RFC 6184 §8.1, table 5).
package enum H264Profile: Sendable, Hashable {
    case constrainedBaseline, baseline, main, extended, constrainedHigh, high, high10, high422, high444

    /// - Parameter profileLevelID: six hex digits. `nil` for anything else and for a profile that is not known.
    package init?(profileLevelID text: String) {
        guard let bytes = Hex.decode(text), bytes.count == 3 else { return nil }
        let constraints = bytes[1]
        switch bytes[0] {
        case 0x42: self = constraints & 0x40 != 0 ? .constrainedBaseline : .baseline
        case 0x4D: self = constraints & 0x80 != 0 ? .constrainedBaseline : .main
        case 0x58: self = constraints & 0xC0 == 0xC0 ? .constrainedBaseline : .extended
        case 0x64: self = constraints & 0x0C == 0x0C ? .constrainedHigh : .high
        case 0x6E: self = .high10
        case 0x7A: self = .high422
        case 0xF4: self = .high444
        default: return nil
        }
    }

    /// The profiles whose decoders play a stream of this one, the nearest first (H.264 §A.2).
    package var decoders: [H264Profile] {
        switch self {
        case .constrainedBaseline:
            [.constrainedBaseline, .baseline, .main, .constrainedHigh, .high, .extended, .high10, .high422, .high444]
        // With flexible macroblock order only Extended could; cameras that say Baseline never use it.
        case .baseline: [.baseline, .extended, .constrainedBaseline, .main, .high, .high10, .high422, .high444]
        case .main: [.main, .high, .high10, .high422, .high444]
        case .extended: [.extended]
        case .constrainedHigh: [.constrainedHigh, .high, .high10, .high422, .high444]
        case .high: [.high, .high10, .high422, .high444]
        case .high10: [.high10, .high422, .high444]
        case .high422: [.high422, .high444]
        case .high444: [.high444]
        }
    }
}

extension RTPCodec {
    /// H.264's profile; without a parameter it is Baseline (RFC 6184 §8.1). `nil` when it is not known.
    package var h264Profile: H264Profile? {
        H264Profile(profileLevelID: formatParameters["profile-level-id"] ?? "42000a")
    }

    package var packetizationMode: String { formatParameters["packetization-mode"] ?? "0" }
}
