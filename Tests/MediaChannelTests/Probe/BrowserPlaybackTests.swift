import IoTCore
import Testing

@testable import MediaChannel

@Suite struct BrowserPlaybackTests {
    @Test("Sound that browsers can play is sent unchanged, other sound becomes Opus")
    func sound() {
        for (codec, rate, channels, reason) in [
            (AudioCodec.aac, 48_000, 2, "made into Opus here"), (.opus, 48_000, 2, "Opus, as it is"),
            (.pcma, 8_000, 1, "G.711, as it is"), (.pcmu, 8_000, 1, "G.711, as it is"),
            (.pcma, 16_000, 1, "made into Opus here"), (.pcmu, 8_000, 2, "made into Opus here"),
        ] {
            let playback = BrowserPlayback(AudioParameters(codec: codec, sampleRate: rate, channels: channels))
            #expect(playback.answer == .yes && playback.reason == reason, "\(codec) \(rate)")
        }
    }

    @Test("H.265 plays in some browsers, B-frames in none, and the reason contains the setting to change")
    func pictures() {
        let h264 = VideoParameters(codec: .h264)
        #expect(BrowserPlayback(h264, isReordered: false).answer == .yes)
        let reordered = BrowserPlayback(h264, isReordered: true)
        #expect(reordered.answer == .no && reordered.reason.contains("turn them off"))
        let h265 = BrowserPlayback(VideoParameters(codec: .h265), isReordered: false)
        #expect(h265.answer == .some && h265.reason.contains("set the camera to H.264"))
        #expect(BrowserPlayback(VideoParameters(codec: .h265), isReordered: true).answer == .no)
    }
}
