import GatewayAPI
import IoTCore
import Testing

@testable import iotctl

@Suite struct OutputTests {
    @Test("Columns line up, wide characters count twice, nothing trails")
    func table() {
        var table = Table("NAME", "ROLE", "")
        table.append("前門", "owner", "")
        table.append("x", "guest", "y")
        #expect(table.text == "NAME  ROLE\n前門  owner\nx     guest  y")
        #expect(Table.pairs([("a", "1"), ("long", "2")]) == "a     1\nlong  2")
    }

    @Test("Figures are readable")
    func figures() {
        #expect(Format.bitrate(1_234_567) == "1.23 Mbit/s")
        #expect(Format.bitrate(12_345_678) == "12.3 Mbit/s")
        #expect(Format.bitrate(64_000) == "64 kbit/s")
        #expect(Format.bitrate(nil) == "-")
        #expect(Format.seconds(0.0341) == "34 ms")
        #expect(Format.seconds(1.25) == "1.25 s")
        #expect(Format.seconds(.nan) == "-")
        #expect(Format.number(29.97) == "29.97")
        #expect(Format.number(10) == "10")
        #expect(Format.number(12.5) == "12.5")
        #expect(Format.uptime(93_784) == "1 d 2 h")
        #expect(
            Format.tracks([
                TrackDescription(kind: .video, codec: "h264", width: 768, height: 576, frameRate: 10),
                TrackDescription(kind: .audio, codec: "aac", sampleRate: 44100, channels: 6),
            ]) == "h264 768x576 10 fps, aac 44.1 kHz 5.1")
    }

    @Test("Durations need a known unit", arguments: [("10s", 10.0), ("500ms", 0.5), ("2m", 120), ("1.5", 1.5)])
    func durations(text: String, seconds: Double) {
        #expect(DurationArgument(argument: text)?.duration == .seconds(seconds))
    }

    @Test("Other durations are refused", arguments: ["", "s", "-1s", "0", "10 s", "5w", "1e400s"])
    func wrongDurations(text: String) {
        #expect(DurationArgument(argument: text) == nil)
    }

    @Test("A path's parts are escaped, an absent query item is left out")
    func paths() {
        #expect(APIPath("v1", "devices", "a/b c").text == "/v1/devices/a%2Fb%20c")
        #expect(APIPath("x", query: ["path": "A.b&c", "n": nil]).text == "/x?path=A.b%26c")
    }
}
