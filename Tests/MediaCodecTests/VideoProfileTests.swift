import Foundation
import IoTCore
import Testing

@testable import MediaCodec

@Suite("Profiles")
struct VideoProfileTests {
    @Test("The clips' profiles and levels are the same as in ffprobe", arguments: Clips.all)
    func clips(_ clip: String) throws {
        let profile = try #require(try MediaDemuxer(url: clip).video?.profile)
        let said = try FFmpegTool.probe(clip, ["-select_streams", "v:0", "-show_entries", "stream=profile,level"])
            .split(separator: "\n")
        #expect(profile.name == said[0])
        let unit = clip == Clips.h265 ? 30.0 : 10.0
        #expect(try #require(Double(profile.level)) == (try #require(Double(said[1]))) / unit)
        #expect(profile.isCommonH264 == (clip != Clips.h265))
    }

    @Test("Baseline, Constrained Baseline and profiles that browsers do not decode are named")
    func names() throws {
        // Real sets with other numbers: profile_idc, constraint flags and level_idc are the three bytes after the
        // header (ITU-T H.264 §7.3.2.1.1). High and above have more fields.
        let main = try set(of: Clips.h264)
        let high = try set(of: Clips.bFrames)
        func profile(_ idc: UInt8, _ flags: UInt8, _ level: UInt8) -> VideoProfile? {
            var set = idc >= 100 ? high : main
            set.replaceSubrange(1...3, with: [idc, flags, level])
            var parameters = VideoParameters(codec: .h264)
            parameters.parameterSets = [set]
            return parameters.profile
        }
        for (idc, flags, level, name, number, isCommon) in [
            (66, 0xC0, 31, "Constrained Baseline", "3.1", true), (66, 0x00, 10, "Baseline", "1", true),
            (66, 0x10, 11, "Baseline", "1b", true), (77, 0x00, 40, "Main", "4", true),
            (88, 0x00, 30, "Extended", "3", false), (100, 0x00, 41, "High", "4.1", true),
            (100, 0x0C, 41, "Constrained High", "4.1", true), (110, 0x00, 50, "High 10", "5", false),
            (122, 0x00, 50, "High 4:2:2", "5", false), (244, 0x00, 51, "High 4:4:4 Predictive", "5.1", false),
        ] as [(UInt8, UInt8, UInt8, String, String, Bool)] {
            let found = try #require(profile(idc, flags, level), "\(idc)")
            #expect(found.name == name && found.level == number && found.isCommonH264 == isCommon, "\(found)")
        }
        var damaged = VideoParameters(codec: .h265)
        #expect(damaged.profile == nil)
        damaged.parameterSets = [[0x42, 1]]
        #expect(damaged.profile == nil)
    }

    private func set(of clip: String) throws -> [UInt8] {
        try #require(try MediaDemuxer(url: clip).video?.parameterSets.first { $0.first.map { $0 & 0x1F } == 7 })
    }
}
