import IoTCore
import NIOCore

/// The facts of a stage, with the names and numbers of the IoT video SDK guide's log.
enum StageFacts {
    /// The guide's header: `at`, `am`, `ac`, `abw`, `ar` and `aspf` describe the sound, `vt`, `vr`, `vw` and `vh` the
    /// picture. Unknown values are left out.
    static func header(_ tracks: FrameSourceDescription) -> [String: JSONValue] {
        var facts: [String: JSONValue] = [:]
        if let audio = tracks.audio {
            facts["at"] = .integer(number(audio.codec))
            facts["am"] = .integer(audio.channels > 1 ? 1 : 0)
            facts["ac"] = AudioSpecificConfig(audio.audioSpecificConfig).map { .integer(Int64($0.objectType)) }
            facts["abw"] = 16
            facts["ar"] = .integer(Int64(audio.sampleRate))
            // A frame of AAC has 1,024 samples, others have 20 ms.
            facts["aspf"] = .integer(audio.codec == .aac ? 1024 : Int64(audio.sampleRate / 50))
        }
        if let video = tracks.video {
            facts["vt"] = .integer(video.codec == .h264 ? 1 : 5)
            if video.frameRate > 0, video.frameRate < 1000 { facts["vr"] = .integer(Int64(video.frameRate.rounded())) }
            if video.width > 0 { facts["vw"] = .integer(Int64(video.width)) }
            if video.height > 0 { facts["vh"] = .integer(Int64(video.height)) }
        }
        return facts
    }

    private static func number(_ codec: AudioCodec) -> Int64 {
        switch codec {
        case .pcma: 1
        case .pcmu: 2
        case .aac: 4
        case .opus: 7
        }
    }

    static func decoder(_ video: VideoParameters, isGiven: Bool) -> [String: JSONValue] {
        ["codec": .string(video.codec.rawValue), "decoder": isGiven ? "supplied" : "libavcodec"]
    }

    static func decoder(_ audio: AudioParameters, isGiven: Bool) -> [String: JSONValue] {
        [
            "codec": .string(audio.codec.rawValue), "ch": .integer(Int64(audio.channels)),
            "sr": .integer(Int64(audio.sampleRate)),
            "decoder": isGiven ? "supplied" : audio.codec == .opus ? "libopus" : "libavcodec",
        ]
    }

    static func sinks(_ kinds: [SinkKind]) -> [String: JSONValue] {
        ["sinks": .string(kinds.isEmpty ? "none" : kinds.map(\.rawValue).joined(separator: ","))]
    }

    static func frame(_ frame: MediaFrame) -> [String: JSONValue] {
        ["pts": .integer(frame.pts), "len": .integer(Int64(frame.bytes.readableBytes))]
    }

    static func picture(_ picture: DecodedPicture, header: VideoParameters?) -> [String: JSONValue] {
        var facts: [String: JSONValue] = [
            "pts": .integer(picture.pts), "pic": .string("\(picture.width)x\(picture.height)"),
        ]
        if let header, header.width > 0 { facts["header"] = .string("\(header.width)x\(header.height)") }
        return facts
    }

    static func shown(pts: Int64, previous: Int64?) -> [String: JSONValue] {
        // The guide's log counts from 0 for the first frame, too.
        ["pts": .integer(pts), "diff": .integer(pts &- (previous ?? 0))]
    }
}
