import IoTCore

/// The H.264 profiles that `profile-level-id` distinguishes (RFC 6184 §8.1, table 5).
package enum H264Profile: Sendable, Hashable {
    case constrainedBaseline, baseline, main, extended, constrainedHigh, high, high10, high422, high444

    /// - Parameter profileLevelID: six hex digits. The result is `nil` for other text and for an unknown profile.
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

    /// The profiles whose decoders can play a stream of this profile, the nearest first (H.264 §A.2).
    package var decoders: [H264Profile] {
        switch self {
        case .constrainedBaseline:
            [.constrainedBaseline, .baseline, .main, .constrainedHigh, .high, .extended, .high10, .high422, .high444]
        // Only Extended supports flexible macroblock ordering, but cameras that announce Baseline never use it.
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
    /// The H.264 profile; Baseline without the parameter (RFC 6184 §8.1). `nil` for an unknown profile.
    package var h264Profile: H264Profile? {
        H264Profile(profileLevelID: formatParameters["profile-level-id"] ?? "42000a")
    }

    package var packetizationMode: String { formatParameters["packetization-mode"] ?? "0" }
}
