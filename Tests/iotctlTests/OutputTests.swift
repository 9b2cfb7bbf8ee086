import ArgumentParser
import GatewayAPI
import IoTCore
import Testing

@testable import iotctl

@Suite struct OutputTests {
    @Test("Columns are aligned, wide characters count twice, and lines have no trailing spaces")
    func table() {
        var table = Table("NAME", "ROLE", "")
        table.append("前門", "owner", "")
        table.append("x", "guest", "y")
        #expect(table.text() == "NAME  ROLE\n前門  owner\nx     guest  y")
        #expect(Table.pairs([("a", "1"), ("long", "2")]) == "a     1\nlong  2")
    }

    @Test("On a narrow terminal the widest cells are shortened, but not ids, and no line is too wide")
    func narrowTable() {
        var table = Table("ID", "NAME", "BODY")
        table.append("0123456789abcdef", "front", #"{"reason":"started","n":12345678}"#)
        table.append("0123456789abcdef", "前門の前門の前門の", "x")
        let lines = table.text(width: 44).split(separator: "\n").map(String.init)
        #expect(lines.allSatisfy { TextWidth.of($0) <= 44 }, "\(lines)")
        #expect(lines.dropFirst().allSatisfy { $0.hasPrefix("0123456789abcdef  ") })
        #expect(lines[1].hasSuffix("…") && lines[2].contains("…"))
        #expect(table.text(width: 200) == table.text())
        // Too narrow for the ids and the least widths: wide lines are better than no columns.
        #expect(table.text(width: 10).split(separator: "\n").last == "0123456789abcdef  前門…  x")
    }

    @Test("Text from a device cannot move the terminal's cursor")
    func controlCharacters() {
        var table = Table("TOPIC", "BODY")
        table.append("a\u{1B}[2J\r\nb", "\u{9B}c")
        #expect(table.text() == "TOPIC    BODY\na\u{FFFD}[2J\u{FFFD}b  \u{FFFD}c")
    }

    @Test("The status of a box that has joined another box shows that, instead of a hub and a broker")
    func joinedStatus() {
        var link = LinkState(
            .online, cause: "connected", reason: nil, since: 0, accessId: "bob", endpoint: "tls:192.0.2.2:8883")
        var status = StatusResponse(
            uptime: 7, link: link, hub: HubState(enabled: false, ready: false, endpoint: nil), broker: nil, cameras: 1,
            camerasOnline: 1, channels: 0, calls: 2,
            shared: [
                "requests": SharedUse(used: 1, bound: 512), "calls": SharedUse(used: 2, bound: 256),
                "talks": SharedUse(used: 0, bound: 16),
            ])
        let text = StatusCommand.text(status)
        #expect(text.contains("hub       on another box, at tls:192.0.2.2:8883\n"))
        #expect(text.contains("cameras   1, 1 online\n") && text.contains("calls     2\n"))
        #expect(text.hasSuffix("in use    calls 2 of 256, requests 1 of 512"))
        #expect(!text.contains("broker"))
        // A box that has joined only with its cameras.
        link.cause = "notRegistered"
        status.link = link
        #expect(StatusCommand.text(status).contains("link      none: this box acts for no account\n"))
    }

    @Test("Whole properties are pending, and a written path can be inside one")
    func pendingWrite() {
        let write = PendingWrite(device: "front", path: "ProWritable._logLevel.setVal", version: 3)
        #expect(write.isPending(["ProWritable.x", "ProWritable._logLevel"]))
        #expect(!write.isPending(["ProWritable._log", "ProWritable.x"]))
        #expect(!write.isPending([]))
    }

    @Test("Values are formatted for people")
    func figures() {
        #expect(Format.bitrate(1_234_567) == "1.23 Mbit/s")
        #expect(Format.bitrate(12_345_678) == "12.3 Mbit/s")
        #expect(Format.bitrate(64_000) == "64 kbit/s")
        #expect(Format.bitrate(nil) == "-")
        #expect(Format.seconds(0.0341) == "34 ms")
        #expect(Format.seconds(1.25) == "1.25 s")
        #expect(Format.seconds(-0.0001) == "0 ms")
        #expect(Format.seconds(-0.012) == "-12 ms")
        #expect(Format.seconds(0.9999) == "1.00 s")
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
    func durations(text: String, seconds: Double) throws {
        #expect(try DurationArgument.parse(text).duration == .seconds(seconds))
    }

    @Test(
        "Other durations are refused with the reason",
        arguments: [
            ("", "unit"), ("s", "unit"), ("-1s", "unit"), ("0", "greater than 0"), ("0s", "greater than 0"),
            ("10 s", "unit"), ("5w", "unit"), ("1e400s", "unit"), ("9999999999s", "too long"),
        ])
    func wrongDurations(text: String, reason: String) {
        let error = #expect(throws: ValidationError.self) { try DurationArgument.parse(text) }
        #expect(error?.message.contains(reason) == true)
    }

    @Test(
        "A name with the ending of another format is refused; names of pipes have no ending",
        arguments: [
            ("out.mkv", false), ("out.MP4", true), ("a.b/out", true), ("/dev/fd/63", true), ("-", true),
            ("a.gif", false),
            (".hidden", true), ("x.m4v", true), ("out.", false),
        ])
    func mediaNames(name: String, fits: Bool) {
        let refusal = MediaFileName.refusal(of: name, for: "--record", writes: "MP4", endings: [".mp4", ".m4v"])
        #expect((refusal == nil) == fits)
        #expect(refusal?.contains("--record writes MP4") != false)
    }

    @Test("The text of a summary is for people; its JSON has the names of the API")
    func summary() throws {
        let json =
            #"{"id":"c","device":"d","deviceName":"front","kind":"monitor","source":0,"tracks":[],"state":"#
            + #"{"connection":{"value":0,"name":"x"},"player":{"value":0,"name":"x"}}}"#
        var channel = try APICoding.decode(ChannelDescription.self, from: json.utf8)
        var report = StatisticsReport(timestamp: 0)
        report.audioVideoSkew = -0.0001
        report.discontinuities = 1
        channel.statistics = report
        var summary = MonitorSummary(
            channel: channel, files: ["rawVideo", "rawAudio"].map { .init(kind: $0, path: $0, bytes: 1) })
        #expect(summary.text.contains("raw video") && summary.text.contains("raw audio"))
        #expect(summary.text.contains("A/V skew         0 ms\n"))
        #expect(summary.text.contains("discontinuities  1: the source's clock jumped"))
        #expect(try Console.json(summary)["files"]?.arrayValue?.first?["kind"] == "rawVideo")
        #expect(!summary.text.contains("dropped"))
        summary.files[0].framesDropped = 3
        #expect(summary.text.contains("3 frames dropped: it was written too slowly"))
        summary.unreadable = [
            PlaybackReport(
                event: .didEndFile, recording: "21", start: 0, end: 1_000,
                error: APIError(code: 21039, name: "x", message: "damaged", remedy: ""))
        ]
        #expect(summary.text.contains(#/not played +in recording 21, .*: damaged/#))
        summary.channel.statistics?.audioVideoSkew = 0.012
        #expect(summary.text.contains("12 ms, the picture behind the sound"))
    }

    @Test("The parts of a path are escaped; an absent query item is left out")
    func paths() {
        #expect(APIPath("v1", "devices", "a/b c").text == "/v1/devices/a%2Fb%20c")
        #expect(APIPath("x", query: ["path": "A.b&c", "n": nil]).text == "/x?path=A.b%26c")
    }
}
