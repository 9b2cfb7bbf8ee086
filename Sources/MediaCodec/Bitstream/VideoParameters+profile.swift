public import IoTCore

/// A video stream's profile and level, named as in its standard.
public struct VideoProfile: Sendable, Hashable {
    /// For example `Constrained Baseline`, `High` or `Main 10`; `profile N` for others.
    public let name: String
    /// For example `4.1`.
    public let level: String
    /// H.264 in Baseline, Main or High, which every browser with H.264 support decodes. Other profiles have 10 bits,
    /// more chroma than 4:2:0, or are not meant for live video.
    public let isCommonH264: Bool

    init(_ set: H264SequenceParameterSet) {
        name = Self.h264Name(set.profile, set.constraints)
        // ITU-T H.264 §A.3.1: level 1b is level_idc 11 with constraint_set3_flag in these profiles.
        let is1b = set.level == 11 && set.constraints & 0x10 != 0 && [66, 77, 88].contains(set.profile)
        level = is1b || set.level == 9 ? "1b" : Self.number(set.level, per: 10)
        isCommonH264 = [66, 77, 100].contains(set.profile)
    }

    init(_ set: H265SequenceParameterSet) {
        let idc = Int(set.generalProfileTierLevel.first ?? 0) & 0x1F
        name = [1: "Main", 2: "Main 10", 3: "Main Still Picture", 4: "Range Extensions"][idc] ?? "profile \(idc)"
        level = Self.number(Int(set.generalProfileTierLevel.last ?? 0), per: 30)
        isCommonH264 = false
    }

    /// ITU-T H.264 §A.2.
    private static func h264Name(_ profile: Int, _ constraints: Int) -> String {
        switch profile {
        case 66: constraints & 0x40 != 0 ? "Constrained Baseline" : "Baseline"
        case 77: "Main"
        case 88: "Extended"
        case 100: constraints & 0x0C == 0x0C ? "Constrained High" : "High"
        case 110: "High 10"
        case 122: "High 4:2:2"
        case 244: "High 4:4:4 Predictive"
        default: "profile \(profile)"
        }
    }

    private static func number(_ level: Int, per unit: Int) -> String {
        let tenths = level * 10 / unit
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}

extension VideoParameters {
    /// The profile from the newest valid sequence parameter set; `nil` without one.
    public var profile: VideoProfile? {
        for set in parameterSets.reversed() {
            switch codec {
            case .h264: if let parsed = H264SequenceParameterSet(nalUnit: set) { return VideoProfile(parsed) }
            case .h265: if let parsed = H265SequenceParameterSet(nalUnit: set) { return VideoProfile(parsed) }
            }
        }
        return nil
    }
}
