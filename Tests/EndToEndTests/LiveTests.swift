import Foundation
import Testing

/// Live calls: the caller shows the called camera a camera of its own gateway.
@Suite(.serialized, .timeLimit(.minutes(3))) struct LiveTests {
    private static let called = Product.sample("street-h264-aac.mp4")
    private static let own = Product.sample("bunny-h264-aac51.mp4")

    /// A daemon with the called camera `front`, and `desk`, `hall` and `yard`, which callers show.
    private func daemon(_ folder: TemporaryFolder) async throws -> RunningDaemon {
        try await RunningDaemon(
            folder: folder,
            configuration: """
                api: {listen: "127.0.0.1:0"}
                cameras:
                  - {name: front, url: \(Self.called), live: accept, talk: "file:\(folder.path("heard.wav"))"}
                  - {name: desk, url: \(Self.own)}
                  - {name: hall, url: \(Product.sample("street-h265-aac.mp4"))}
                  - {name: yard, url: \(Product.sample("street-h264-bframes-pcma.mkv"))}
                """)
    }

    private func call(_ folder: TemporaryFolder, _ arguments: String...) throws -> BackgroundProgram {
        try BackgroundProgram([Product.program("iotctl"), "--socket", folder.path("socket"), "live"] + arguments)
    }

    private func caller(_ daemon: RunningDaemon) async throws -> String? {
        struct Camera: Decodable {
            let caller: String?
        }
        let answer = try await daemon.api.request("GET", "/v1/cameras/front")
        return try JSONDecoder().decode(Camera.self, from: answer.body).caller
    }

    /// The pictures of the caller, as the camera's owner gets them.
    private func expectPictures(
        of sample: String, _ daemon: RunningDaemon, _ folder: TemporaryFolder
    ) async throws {
        let file = folder.path("caller.y4m")
        let outcome = try await daemon.iotctl(
            "monitor", "front", "--source", "caller", "--frames", "30", "--raw-video", file)
        #expect(outcome.status == 0, "\(outcome)")
        let shown = try await FrameDigests.of(file)
        let source = try await FrameDigests.of(sample)
        #expect(shown.count == 30 && FrameDigests.position(of: shown, inRepeated: source) != nil)
    }

    @Test("The caller sees the camera, and the camera's owner sees and hears the caller")
    func call() async throws {
        let folder = try TemporaryFolder()
        let daemon = try await daemon(folder)
        let program = try call(
            folder, "front", "--camera", "desk", "--talk", Product.sample("speech.flac"), "--frames", "180",
            "--raw-video", folder.path("seen.y4m"))
        try await eventually("the call") { try await caller(daemon) == "owner" }
        try await expectPictures(of: Self.own, daemon, folder)
        let sound = try await daemon.iotctl(
            "monitor", "front", "--source", "caller", "--duration", "2s", "--raw-audio", folder.path("caller.wav"))
        #expect(sound.status == 0, "\(sound)")
        // Speech that is heard, and not silence.
        let level = try await Program.named(
            "ffmpeg", ["-hide_banner", "-i", folder.path("caller.wav"), "-af", "volumedetect", "-f", "null", "-"]
        ).run()
        let loudest = level.errors.firstMatch(of: #/max_volume: (-?[\d.]+) dB/#).flatMap { Double($0.1) }
        #expect(loudest ?? -91 > -30, "\(level.errors)")
        #expect(await program.ended() == 0, "\(program.errors)")
        let seen = try await FrameDigests.of(folder.path("seen.y4m"))
        let source = try await FrameDigests.of(Self.called)
        #expect(seen.count == 180 && FrameDigests.position(of: seen, inRepeated: source) != nil)
        try await eventually("the end of the call") { try await caller(daemon) == nil }
        let gone = try await daemon.iotctl("monitor", "front", "--source", "caller", "--frames", "1")
        #expect(gone.status == 1 && gone.errors.contains("20009"), "\(gone)")
        // The loudspeaker has played the same talk.
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("heard.wav"))).count > 96_000)
        let events = try await daemon.iotctl("event", "list", "--topic", "EVENT_CAM/LiveCall")
        #expect(events.text.contains("began") && events.text.contains("ended") && events.text.contains("owner"))
        #expect(await daemon.stop() == 0)
    }

    @Test("A live channel shows one camera after another; the formats that it was not opened for are refused")
    func change() async throws {
        let folder = try TemporaryFolder()
        let daemon = try await daemon(folder)
        let api = daemon.api
        struct Channel: Decodable {
            let id: String
            let kind: String
            let camera: String?
        }
        let opened = try await api.request(
            "POST", "/v1/channels", body: #"{"device":"front","kind":"live","camera":"desk"}"#)
        #expect(opened.status == 201, "\(String(decoding: opened.body, as: UTF8.self))")
        let channel = try JSONDecoder().decode(Channel.self, from: opened.body)
        #expect(channel.kind == "live" && channel.camera == "desk")
        let path = "/v1/channels/\(channel.id)"
        #expect(try await api.request("POST", path + "/play").status == 200)
        try await expectPictures(of: Self.own, daemon, folder)
        // With B-frames, whose order RTP carries only by their times.
        let changed = try await api.request("PATCH", path, body: #"{"camera":"yard"}"#)
        #expect(try JSONDecoder().decode(Channel.self, from: changed.body).camera == "yard")
        try await expectPictures(of: Product.sample("street-h264-bframes-pcma.mkv"), daemon, folder)
        let closed = try await api.request("PATCH", path, body: #"{"camera":null}"#)
        #expect(try JSONDecoder().decode(Channel.self, from: closed.body).camera == nil)
        #expect(try await api.request("PATCH", path, body: #"{"camera":"desk"}"#).status == 200)
        try await expectPictures(of: Self.own, daemon, folder)
        let refused = try await api.request("PATCH", path, body: #"{"camera":"hall"}"#)
        #expect(refused.status == 409 && String(decoding: refused.body, as: UTF8.self).contains("21040"))
        // What was shown before still is.
        let unchanged = try await api.request("GET", path)
        #expect(try JSONDecoder().decode(Channel.self, from: unchanged.body).camera == "desk")
        try await expectPictures(of: Self.own, daemon, folder)
        let other = try await api.request("PATCH", path, body: #"{"camera":"yard","definition":"low"}"#)
        #expect(other.status == 409)
        let limited = try await daemon.iotctl("token", "create", "--api", "--action", "view").text
        let viewer = try daemon.tcpAPI(token: limited.trimmingCharacters(in: .whitespacesAndNewlines))
        let stranger = try await viewer.request("PATCH", path, body: #"{"camera":"yard"}"#)
        #expect(stranger.status == 403, "\(String(decoding: stranger.body, as: UTF8.self))")
        #expect(try await api.request("DELETE", path).status == 200)
        // A channel that is opened with it gets H.265.
        let program = try call(folder, "front", "--camera", "hall", "--duration", "30s")
        try await eventually("the call") { try await caller(daemon) == "owner" }
        try await expectPictures(of: Product.sample("street-h265-aac.mp4"), daemon, folder)
        program.send(SIGTERM)
        _ = await program.ended()
        #expect(await daemon.stop() == 0)
    }

    @Test(
        "A caller without a camera is heard; what the owner gets can be recorded, with the pictures from the first on")
    func soundAlone() async throws {
        let folder = try TemporaryFolder()
        let daemon = try await daemon(folder)
        let first = try call(folder, "front", "--talk", Product.sample("speech.flac"), "--duration", "30s")
        try await eventually("the call") { try await caller(daemon) == "owner" }
        let sound = try await daemon.iotctl(
            "monitor", "front", "--source", "caller", "--duration", "2s", "--raw-audio", folder.path("alone.wav"))
        #expect(sound.status == 0 && sound.text.contains("opus"), "\(sound)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("alone.wav"))).count > 96_000)
        first.send(SIGTERM)
        _ = await first.ended()
        try await eventually("the end of the call") { try await caller(daemon) == nil }
        let second = try call(folder, "front", "--camera", "yard", "--duration", "30s")
        try await eventually("the call") { try await caller(daemon) == "owner" }
        let file = folder.path("caller.mp4")
        let recording = try await daemon.iotctl(
            "monitor", "front", "--source", "caller", "--frames", "30", "--record", file)
        #expect(recording.status == 0, "\(recording)")
        let recorded = try await FrameDigests.of(file)
        let source = try await FrameDigests.of(Product.sample("street-h264-bframes-pcma.mkv"))
        #expect(recorded.count >= 30 && FrameDigests.position(of: recorded, inRepeated: source) != nil)
        second.send(SIGTERM)
        _ = await second.ended()
        #expect(await daemon.stop() == 0)
    }

    @Test("What the caller hears is quiet while it talks, unless it keeps the echo")
    func echo() async throws {
        let folder = try TemporaryFolder()
        let daemon = try await daemon(folder)
        var loudness: [Double] = []
        for options in [[], ["--echo", "keep"]] {
            let file = folder.path("hears.wav")
            let outcome = try await daemon.iotctl(
                ["live", "front", "--talk", Product.sample("speech.flac"), "--duration", "4s", "--raw-audio", file]
                    + options)
            #expect(outcome.status == 0, "\(outcome)")
            // The talk begins a moment after the sound.
            let level = try await Program.named(
                "ffmpeg", ["-hide_banner", "-ss", "1.5", "-i", file, "-af", "volumedetect", "-f", "null", "-"]
            ).run()
            let mean = level.errors.firstMatch(of: #/mean_volume: (-?[\d.]+) dB/#).flatMap { Double($0.1) }
            loudness.append(try #require(mean, "\(level.errors)"))
            try await eventually("the end of the call") { try await caller(daemon) == nil }
        }
        // In a pause between the words, it is as loud as before.
        #expect(loudness[0] < loudness[1] - 8, "\(loudness)")
        let refused = try await daemon.iotctl("live", "front", "--echo", "cancel")
        #expect(refused.status == 2 && refused.errors.contains("duck or keep"))
        #expect(await daemon.stop() == 0)
    }

    @Test("What is shown continues after the camera was switched off and on, and ends when the caller may not view it")
    func revoked() async throws {
        let folder = try TemporaryFolder()
        let daemon = try await daemon(folder)
        #expect(try await daemon.iotctl("user", "create", "bob").status == 0)
        for camera in ["front", "desk"] {
            let bound = try await daemon.iotctl("device", "bind", camera, "bob", "--action", "view", "--action", "talk")
            #expect(bound.status == 0)
        }
        let token = try await daemon.iotctl("token", "create", "--api", "--user", "bob").text
        let bob = try daemon.tcpAPI(token: token.trimmingCharacters(in: .whitespacesAndNewlines))
        let opened = try await bob.request(
            "POST", "/v1/channels", body: #"{"device":"front","kind":"live","camera":"desk"}"#)
        let path = "/v1/channels/\(try #require(opened.object["id"] as? String))"
        #expect(try await bob.request("POST", path + "/play").status == 200)
        try await expectPictures(of: Self.own, daemon, folder)
        for value in ["0", "1"] {
            #expect(try await daemon.iotctl("action", "desk", "Action.cameraOn", value).status == 0)
        }
        try await expectPictures(of: Self.own, daemon, folder)
        #expect(try await daemon.iotctl("device", "unbind", "desk", "bob").status == 0)
        try await eventually("the camera is no longer shown") {
            try await bob.request("GET", path).object["camera"] == nil
        }
        #expect(try await caller(daemon) == "bob")
        struct Camera: Decodable {
            let viewers: Int
        }
        let desk = try await daemon.api.request("GET", "/v1/cameras/desk")
        #expect(try JSONDecoder().decode(Camera.self, from: desk.body).viewers == 0)
        #expect(try await bob.request("DELETE", path).status == 200)
        #expect(await daemon.stop() == 0)
    }

    @Test("A call rings until somebody at the camera answers it")
    func ringing() async throws {
        let folder = try TemporaryFolder()
        let daemon = try await daemon(folder)
        #expect(
            try await daemon.iotctl("camera", "add", "door", Self.called, "--live", "ask", "--check").status == 0)
        struct Camera: Decodable {
            let caller: String?
            let call: String?
            let ringing: Bool?
        }
        func door() async throws -> Camera {
            let answer = try await daemon.api.request("GET", "/v1/cameras/door")
            return try JSONDecoder().decode(Camera.self, from: answer.body)
        }
        let none = try await daemon.iotctl("camera", "accept", "door")
        #expect(none.status == 1 && none.errors.contains("20009"), "\(none)")

        let refused = try call(folder, "door", "--camera", "desk", "--duration", "60s")
        try await eventually("the call rings") { try await door().ringing == true }
        let first = try await door()
        #expect(first.caller == "owner")
        #expect(try await daemon.iotctl("camera", "refuse", "door", try #require(first.call)).status == 0)
        #expect(await refused.ended() == 1 && refused.errors.contains("error 20002 "), "\(refused.errors)")
        #expect(refused.errors.contains("the call rings at door"), "\(refused.errors)")

        let told = try call(folder, "door", "--json", "--duration", "60s")
        try await eventually("the call rings") { try await door().ringing == true }
        // From anywhere: an account with the action `control` at the device.
        #expect(try await daemon.iotctl("user", "create", "bob").status == 0)
        let bob = try daemon.tcpAPI(
            token: try await daemon.iotctl("token", "create", "--api", "--user", "bob").text
                .trimmingCharacters(in: .whitespacesAndNewlines))
        func answer(_ answer: String, _ call: String) async throws -> (status: Int, text: String) {
            let response = try await bob.request(
                "POST", "/v1/devices/door/actions", body: #"{"path":"Action.\#(answer)Call","value":"\#(call)"}"#)
            return (response.status, String(decoding: response.body, as: UTF8.self))
        }
        #expect(try await daemon.iotctl("device", "bind", "door", "bob", "--action", "view").status == 0)
        let denied = try await answer("accept", "")
        #expect(denied.status == 403 && denied.text.contains("8003"), "\(denied)")
        #expect(try await daemon.iotctl("device", "bind", "door", "bob", "--action", "control").status == 0)
        let other = try await answer("accept", try #require(first.call))
        #expect(other.status == 404 && other.text.contains("20009"), "\(other)")
        let given = try await answer("refuse", try #require(try await door().call))
        #expect(given.status == 200, "\(given)")
        #expect(await told.ended() == 1)
        let line = try #require(told.output.split(separator: "\n").first, "\(told.errors)")
        #expect(line.hasPrefix("{") && line.contains(#""event":"ringing""#) && line.contains(#""device":"door""#))

        let file = folder.path("seen.y4m")
        let accepted = try call(folder, "door", "--camera", "desk", "--frames", "60", "--raw-video", file)
        try await eventually("the call rings") { try await door().ringing == true }
        // Before somebody accepts it, the camera's owner sees who calls, and the caller sees nothing.
        let seen = try await daemon.iotctl(
            "monitor", "door", "--source", "caller", "--frames", "5", "--raw-video", folder.path("caller.y4m"))
        #expect(seen.status == 0, "\(seen)")
        #expect((try? Data(contentsOf: URL(fileURLWithPath: file)).count) ?? 0 == 0)
        #expect(try await daemon.iotctl("device", "rename", "door", "gate").status == 0)
        #expect(try await daemon.iotctl("camera", "accept", "gate").status == 0)
        #expect(try await door().ringing == false)
        #expect(await accepted.ended() == 0, "\(accepted.errors)")
        let pictures = try await FrameDigests.of(file)
        #expect(pictures.count == 60)
        let events = try await daemon.iotctl("event", "list", "--topic", "EVENT_CAM/LiveCall")
        #expect(events.text.components(separatedBy: "ringing").count == 4, "\(events.text)")
        #expect(events.text.components(separatedBy: "began").count == 2, "\(events.text)")
        #expect(await daemon.stop() == 0)
    }

    @Test("A camera without the key refuses live calls, a busy one the second; other accounts never see the caller")
    func refusals() async throws {
        let folder = try TemporaryFolder()
        let daemon = try await daemon(folder)
        let start = ContinuousClock.now
        let refused = try await daemon.iotctl("live", "desk", "--camera", "yard")
        // The refusal of the device ends the channel, and not its time-out of 15 s.
        #expect(ContinuousClock.now - start < .seconds(10))
        #expect(refused.status == 1 && refused.errors.contains("21040"), "\(refused)")
        let program = try call(folder, "front", "--camera", "desk", "--duration", "60s")
        try await eventually("the call") { try await caller(daemon) == "owner" }
        let same = try await daemon.iotctl("live", "front")
        #expect(same.status == 1 && same.errors.contains("21021"), "\(same)")

        #expect(try await daemon.iotctl("user", "create", "bob").status == 0)
        #expect(try await daemon.iotctl("device", "bind", "front", "bob", "--action", "view").status == 0)
        let token = try await daemon.iotctl("token", "create", "--api", "--user", "bob").text
        let bob = try daemon.tcpAPI(token: token.trimmingCharacters(in: .whitespacesAndNewlines))
        func refusal(_ body: String) async throws -> Int? {
            let answer = try await bob.request("POST", "/v1/channels", body: body)
            return (answer.object["error"] as? [String: Any])?["code"] as? Int
        }
        // A live call needs `talk`.
        #expect(try await refusal(#"{"device":"front","kind":"live"}"#) == 8003)
        #expect(
            try await daemon.iotctl("device", "bind", "front", "bob", "--action", "view", "--action", "talk").status
                == 0)
        #expect(try await refusal(#"{"device":"front","kind":"live"}"#) == 25049)
        #expect(try await refusal(#"{"device":"front","source":"caller"}"#) == 8003)
        // Cameras that he may not view he cannot show.
        #expect(try await refusal(#"{"device":"front","kind":"live","camera":"desk"}"#) == 8002)
        program.send(SIGTERM)
        _ = await program.ended()
        #expect(await daemon.stop() == 0)
    }
}
