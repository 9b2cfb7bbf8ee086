import Foundation
import Testing

/// How a user sees and hears a channel: muted, louder or quieter, turned, in another size.
@Suite(.serialized, .timeLimit(.minutes(3))) struct PresentationTests {
    private let sample = Product.sample("street-h264-aac.mp4")

    /// The MD5 sums of the clip's pictures after ffmpeg's filter.
    private func digests(_ filter: String) async throws -> [String] {
        let folder = try TemporaryFolder()
        let file = folder.path("f.y4m")
        let made = try await Program.named("ffmpeg", ["-v", "error", "-i", sample, "-vf", filter, file]).run()
        try #require(made.status == 0, "\(made.errors)")
        return try await FrameDigests.of(file)
    }

    /// The loudest sample of a file's sound, dB of full scale; -91 for silence of 16 bits.
    private func peak(_ file: String) async throws -> Double {
        let report = try await Program.named(
            "ffmpeg", ["-i", file, "-map", "0:a:0", "-af", "volumedetect", "-f", "null", "-"]
        ).run().errors
        return try #require(report.firstMatch(of: #/max_volume: (-?[\d.]+) dB/#).flatMap { Double($0.1) }, "\(report)")
    }

    @Test("Turned raw video has the camera's pictures, turned; muted sound is silent; the recording is not touched")
    func settings() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": sample])
        let folder = try TemporaryFolder()
        let (video, recording, sound) = (folder.path("v.y4m"), folder.path("r.mp4"), folder.path("a.wav"))
        let outcome = try await daemon.iotctl(
            "monitor", "front", "--frames", "30", "--rotate", "90", "--mute", "--raw-video", video, "--record",
            recording,
            "--raw-audio", sound, "--json")
        try #require(outcome.status == 0, "\(outcome.errors)")
        let turned = try await FrameDigests.of(video)
        #expect(turned.count == 30)
        #expect(FrameDigests.position(of: turned, inRepeated: try await digests("transpose=cclock")) != nil)
        let recorded = try await FrameDigests.of(recording)
        #expect(FrameDigests.position(of: recorded, inRepeated: try await FrameDigests.of(sample)) != nil)
        let loudest = try await peak(recording)
        #expect(try await peak(sound) <= -90 && loudest > -40)

        let quieter = try await daemon.iotctl(
            "monitor", "front", "--duration", "2s", "--volume", "0.1", "--raw-audio", sound)
        try #require(quieter.status == 0, "\(quieter.errors)")
        let quiet = try await peak(sound)
        #expect(quiet < loudest - 10 && quiet > -60, "\(quiet) dB, \(loudest) dB")
        #expect(await daemon.stop() == 0)
    }

    @Test("Pictures get the wanted size in raw video and snapshots")
    func size() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": sample])
        let folder = try TemporaryFolder()
        let (video, picture) = (folder.path("v.y4m"), folder.path("s.png"))
        let outcome = try await daemon.iotctl(
            "monitor", "front", "--frames", "5", "--size", "320x180", "--scaling", "aspectFill", "--raw-video", video,
            "--snapshot", picture)
        try #require(outcome.status == 0, "\(outcome.errors)")
        for file in [video, picture] {
            let size = try await Program.named(
                "ffprobe", ["-v", "error", "-show_entries", "stream=width,height", "-of", "csv=p=0", file]
            ).run().text
            #expect(size.trimmingCharacters(in: .whitespacesAndNewlines) == "320,180", "\(file)")
        }
        for (options, reason) in [
            (["--size", "321x180"], "even"), (["--scaling", "fill"], "--size"), (["--rotate", "45"], "90"),
            (["--volume", "2"], "0 to 1"), (["--size", "320x180", "--scaling", "wide"], "aspectFit"),
        ] {
            let refused = try await daemon.iotctl(["monitor", "front"] + options)
            #expect(refused.status == 2 && refused.errors.contains(reason), "\(options): \(refused.errors)")
        }
        #expect(await daemon.stop() == 0)
    }

    @Test("A setting is kept from before the first picture, holds for one use, and takes effect while it plays")
    func changes() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": sample])
        func open() async throws -> String {
            let opened = try await daemon.api.request("POST", "/v1/channels", body: #"{"device":"front"}"#)
            return "/v1/channels/\(try #require(opened.object["id"] as? String))"
        }
        func size(_ channel: String, _ query: String = "") async throws -> String {
            let answer = try await daemon.api.request("GET", channel + "/snapshot?format=png" + query)
            try #require(answer.status == 200)
            // The header's width and height (PNG §11.2.2).
            let numbers = [16, 20].map { offset in
                answer.body.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | Int($1) }
            }
            return "\(numbers[0])x\(numbers[1])"
        }
        let (turned, other) = (try await open(), try await open())
        let set = try await daemon.api.request("PATCH", turned, body: #"{"rotation":270,"muted":true}"#)
        #expect(set.status == 200 && set.object["rotation"] as? Int == 270 && set.object["muted"] as? Bool == true)
        for channel in [turned, other] {
            #expect(try await daemon.api.request("POST", channel + "/play").status == 200)
        }
        #expect(try await size(turned) == "576x768")
        #expect(try await size(other) == "768x576")
        #expect(try await size(turned, "&size=200x100&scaling=fill") == "200x100")
        #expect(try await daemon.api.request("PATCH", turned, body: #"{"rotation":180}"#).status == 200)
        #expect(try await size(turned) == "768x576")
        let shown = try await daemon.api.request("GET", turned).object
        #expect(shown["rotation"] as? Int == 180 && shown["muted"] as? Bool == true)
        #expect(shown["echo"] as? String == "duck")
        for body in [#"{"rotation":45}"#, #"{"volume":{"left":1.5,"right":0}}"#, #"{"echo":"cancel"}"#] {
            let refused = try await daemon.api.request("PATCH", turned, body: body)
            #expect(refused.status == 400 && (refused.object["error"] as? [String: Any])?["code"] as? Int == 21031)
        }
        // Nothing is half done: this channel shows no camera, so the volume stays.
        let refused = try await daemon.api.request(
            "PATCH", turned, body: #"{"camera":null,"volume":{"left":0,"right":0}}"#)
        #expect(refused.status == 409)
        let volume = try await daemon.api.request("GET", turned).object["volume"] as? [String: Double]
        #expect(volume == ["left": 1, "right": 1])
        #expect(await daemon.stop() == 0)
    }

    @Test("A channel that has failed keeps settings, and refuses commands to the device with the reason of its end")
    func failedChannel() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": sample])
        let added = try await daemon.iotctl("camera", "add", "yard", sample, "--live", "accept")
        try #require(added.status == 0, "\(added)")
        try await eventually("the camera's picture") {
            try await daemon.api.request("GET", "/v1/devices/yard/snapshot").status == 200
        }
        var channels: [String: String] = [:]
        for kind in ["monitor", "live"] {
            let opened = try await daemon.api.request(
                "POST", "/v1/channels", body: #"{"device":"yard","kind":"\#(kind)"}"#)
            channels[kind] = "/v1/channels/\(try #require(opened.object["id"] as? String, "\(opened)"))"
        }
        #expect(try await daemon.api.request("DELETE", "/v1/cameras/yard").status < 300)
        for (kind, command) in [("monitor", #"{"definition":"high","muted":false}"#), ("live", #"{"camera":"front"}"#)]
        {
            let channel = try #require(channels[kind])
            var reason: Int?
            try await eventually("the channel's end") {
                let state = try await daemon.api.request("GET", channel).object["state"] as? [String: Any]
                reason = (state?["reason"] as? [String: Any])?["code"] as? Int
                return reason != nil
            }
            let set = try await daemon.api.request("PATCH", channel, body: #"{"muted":true,"rotation":90}"#)
            #expect(set.status == 200 && set.object["muted"] as? Bool == true && set.object["rotation"] as? Int == 90)
            let refused = try await daemon.api.request("PATCH", channel, body: command)
            let error = refused.object["error"] as? [String: Any]
            #expect(refused.status >= 400 && error?["code"] as? Int == reason, "\(kind): \(refused.object)")
            // Nothing is half done.
            #expect(try await daemon.api.request("GET", channel).object["muted"] as? Bool == true)
        }
        #expect(await daemon.stop() == 0)
    }
}
