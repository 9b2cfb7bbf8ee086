import IoTCore
import MediaCodec

/// Whether browsers can play a track over WebRTC, and why.
public struct BrowserPlayback: Sendable, Hashable {
    public enum Answer: String, Sendable, Hashable, CaseIterable {
        case yes
        /// Some browsers, on some machines.
        case some
        case no
    }

    public let answer: Answer
    /// One sentence without a capital letter and without a full stop.
    public let reason: String

    init(_ answer: Answer, _ reason: String) {
        self.answer = answer
        self.reason = reason
    }

    init(_ video: VideoParameters, isReordered: Bool) {
        let name = video.profile.map { " \($0.name)" } ?? ""
        if isReordered {
            self.init(
                .no,
                "it has B-frames, which browsers do not reorder over WebRTC: turn them off in the camera")
        } else if video.codec == .h265 {
            self.init(
                .some,
                "H.265 plays in Safari, and in Chrome where the machine decodes it in hardware: set the camera to H.264 "
                    + "to reach every browser")
        } else if video.profile?.isCommonH264 == false {
            self.init(
                .no, "H.264\(name) is a profile that browsers do not decode: set the camera to Main, High or Baseline")
        } else {
            self.init(.yes, "H.264\(name) without B-frames")
        }
    }

    init(_ audio: AudioParameters) {
        switch audio.codec {
        case .opus: self.init(.yes, "Opus, as it is")
        // RFC 7874 §3: G.711 is mandatory for browsers, at 8 kHz with one channel.
        case .pcmu where audio.isTelephony, .pcma where audio.isTelephony: self.init(.yes, "G.711, as it is")
        case .aac, .pcma, .pcmu: self.init(.yes, "made into Opus here")
        }
    }
}

extension AudioParameters {
    fileprivate var isTelephony: Bool { sampleRate == 8000 && channels == 1 }
}
