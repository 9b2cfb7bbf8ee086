import Foundation
import Testing

/// Cameras over RTSP, served by GStreamer: their frames, and their state while the server is away.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RTSPCameraTests {
    /// A camera's stream: one of the samples, repeated until it is longer than a test.
    private static let streams = Array(MonitorSample.all.prefix(3))
    private static let frames = 40

    @Test("Over TCP, H.264 and H.265 with AAC and H.264 with PCMA show exactly the frames that the camera sent")
    func overTCP() async throws {
        try await withCameras(transport: "tcp") { daemon, name, sample, file in
            try await MonitorTests.monitor(daemon, name, sample, source: file, count: Self.frames)
        }
    }

    @Test("Over UDP the same cameras show the camera's frames, in order, with their sound")
    func overUDP() async throws {
        try await withCameras(transport: "udp") { daemon, name, _, file in
            let folder = try TemporaryFolder()
            let outcome = try await daemon.iotctl(
                "monitor", name, "--frames", "\(Self.frames)", "--raw-video", folder.path("v.y4m"), "--raw-audio",
                folder.path("a.wav"))
            try #require(outcome.status == 0, "\(name): \(outcome.errors)\n\(daemon.log)")
            let shown = try await FrameDigests.of(folder.path("v.y4m"))
            #expect(shown.count == Self.frames)
            // Packets that UDP loses are not sent again; the pictures up to the next key frame are lost with them.
            var rest = try await FrameDigests.of(file)[...]
            let found = shown.count { digest in
                guard let place = rest.firstIndex(of: digest) else { return false }
                rest = rest[(place + 1)...]
                return true
            }
            #expect(found >= shown.count * 9 / 10, "\(name): \(found) of \(shown.count) frames are the camera's")
            let sound = try FileManager.default.attributesOfItem(atPath: folder.path("a.wav"))[.size] as? Int
            #expect(try #require(sound) > 16_000, "\(name): a second of sound at least")
        }
    }

    private func withCameras(
        transport: String,
        _ body: @escaping @Sendable (RunningDaemon, String, MonitorSample, String) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        var cameras: [(name: String, sample: MonitorSample, file: String, server: RTSPServer)] = []
        for (index, sample) in Self.streams.enumerated() {
            let file = try await Self.repeated(sample.file, in: folder)
            cameras.append(("cam\(index)", sample, file, try await RTSPServer(file: file)))
        }
        let items = cameras.map { "  - {name: \($0.name), url: '\($0.server.url)', rtspTransport: \(transport)}" }
        let daemon = try await RunningDaemon(
            configuration: (["cameras:"] + items).joined(separator: "\n"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (name, sample, file, _) in cameras {
                group.addTask { try await body(daemon, name, sample, file) }
            }
            try await group.waitForAll()
        }
        for camera in cameras {
            #expect(try await daemon.camera(camera.name)?["state"] as? String == "ready")
            camera.server.stop()
        }
        #expect(await daemon.stop() == 0)
    }

    @Test("A camera's MP3 is AAC for everybody: its test names it, and channels and recordings have the sound")
    func mp3() async throws {
        let folder = try TemporaryFolder()
        let file = folder.path("tone.mp4")
        let made = try await Program.named(
            "ffmpeg",
            [
                "-v", "error", "-stream_loop", "12", "-i", Product.sample("street-h264-aac.mp4"), "-f", "lavfi", "-i",
                "sine=frequency=1000:sample_rate=44100", "-map", "0:v", "-map", "1:a", "-t", "100", "-c:v", "copy",
                "-c:a",
                "libmp3lame", file,
            ]
        ).run()
        try #require(made.status == 0, "\(made.errors)")
        let server = try await RTSPServer(file: file)
        let daemon = try await RunningDaemon(cameras: ["door": server.url])
        let report = try await daemon.iotctl("camera", "test", server.url)
        #expect(
            report.status == 0 && report.text.contains("audio: aac 48 kHz stereo"), "\(report.text)\(report.errors)")
        let (sound, recording) = (folder.path("a.wav"), folder.path("r.mp4"))
        let watched = try await daemon.iotctl(
            "monitor", "door", "--frames", "30", "--raw-audio", sound, "--record", recording)
        try #require(watched.status == 0, "\(watched.errors)\n\(daemon.log)")
        for path in [sound, recording] {
            let level = try await Program.named(
                "ffmpeg", ["-i", path, "-map", "0:a", "-af", "bandpass=f=1000:w=100,volumedetect", "-f", "null", "-"]
            ).run()
            // ffmpeg's tone has -21 dB; silence has -91 dB.
            let decibels = level.errors.split(separator: "mean_volume: ").last?.split(separator: " ").first
            #expect(decibels.flatMap { Double($0) } ?? -99 > -30, "\(path): \(level.errors)")
        }
        server.stop()
        #expect(await daemon.stop() == 0)
    }

    @Test("A camera that cannot be reached at the start shows the reason, and starts by itself later")
    func firstDial() async throws {
        let port = try RTSPServer.freePort()
        let daemon = try await RunningDaemon(cameras: ["door": RTSPServer.url(port: port)])
        try await eventually("the camera's failure") {
            try await daemon.camera("door")?["state"] as? String == "failed"
        }
        let reason = try #require(try await daemon.camera("door")?["reason"] as? [String: Any])
        #expect(reason["code"] as? Int == 25010 && reason["name"] as? String == "sourceUnreachable")
        #expect((reason["message"] as? String)?.contains("Connection refused") == true, "\(reason)")
        // Everybody who may view the camera sees the reason, but not the source's address.
        try await eventually("the failure in the model") {
            let failure = try await daemon.api.read("door", "ProReadonly.sourceFailure.stVal") as? [String: Any]
            return failure?["code"] as? Int == 25010
                && failure?["reason"] as? String == "the camera's source cannot be reached"
        }
        let list = try await daemon.iotctl("camera", "list")
        #expect(list.text.contains("door: 25010 sourceUnreachable: "), "\(list.text)")
        // A viewer gets the same reason, immediately.
        let refused = try await daemon.iotctl("monitor", "door", "--frames", "1")
        #expect(refused.status == 1 && refused.errors.hasPrefix("error 25010 "), "\(refused.errors)")

        let server = try await RTSPServer(file: Product.sample("street-h264-aac.mp4"), port: port)
        try await eventually("the camera", within: .seconds(60)) {
            try await daemon.camera("door")?["state"] as? String == "ready"
        }
        #expect(try await daemon.camera("door")?["reason"] == nil)
        try await eventually("the end of the failure in the model") {
            try await daemon.api.read("door", "ProReadonly.sourceFailure.stVal.code") as? Int == 0
        }
        let watched = try await daemon.iotctl("monitor", "door", "--frames", "10")
        #expect(watched.status == 0, "\(watched.errors)")
        server.stop()
        await daemon.stop()
    }

    @Test("A channel shows pictures again after its camera's server was killed and started again")
    func reconnect() async throws {
        let port = try RTSPServer.freePort()
        let folder = try TemporaryFolder()
        let file = try await Self.repeated("street-h265-aac.mp4", in: folder)
        let first = try await RTSPServer(file: file, port: port)
        let daemon = try await RunningDaemon(cameras: ["door": RTSPServer.url(port: port)])
        let video = folder.path("v.y4m")
        async let monitor = daemon.iotctl(
            "monitor", "door", "--frames", "150", "--raw-video", video, "--record", folder.path("r.mp4"), "--json")
        // 768 × 576 pixels of 4:2:0, and the frame's header line.
        let frame = 768 * 576 * 3 / 2 + 6
        func shown() -> Int {
            let size = try? FileManager.default.attributesOfItem(atPath: video)[.size] as? Int
            return (size ?? 0) / frame
        }
        try await eventually("30 pictures", within: .seconds(60)) { shown() >= 30 }
        first.stop()
        try await eventually("the camera's failure", within: .seconds(30)) {
            try await daemon.camera("door")?["state"] as? String == "failed"
        }
        let before = shown()
        let second = try await RTSPServer(file: file, port: port)

        let outcome = try await monitor
        try #require(outcome.status == 0, "\(outcome.errors)\n\(daemon.log)")
        let summary = try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any]
        let statistics = (summary?["channel"] as? [String: Any])?["statistics"] as? [String: Any]
        #expect(statistics?["discontinuities"] as? Int == 1, "both tracks show one discontinuity: \(outcome.text)")
        // One run of the source's pictures until the server died, and another one from its start when it came back.
        let source = try await FrameDigests.of(file)
        let pictures = try await FrameDigests.of(video)
        #expect(pictures.count == 150)
        let ends = (before - 2...before + 30).filter { end in
            end < pictures.count && FrameDigests.position(of: pictures[end...], inRepeated: source) == 0
                && FrameDigests.position(of: pictures[..<end], inRepeated: source) != nil
        }
        #expect(!ends.isEmpty, "the pictures are not two runs of the source's; \(before) before the end")
        let played = try await Program.named(
            "ffmpeg", ["-v", "error", "-i", folder.path("r.mp4"), "-f", "null", "-"]
        ).run()
        #expect(played.status == 0 && played.errors == "", "\(played.errors)")

        let log = daemon.log.split(separator: "\n")
        #expect(log.count { $0.contains("camera source is back") } == 1, "\(daemon.log)")
        #expect(log.contains { $0.contains("camera source failed") && $0.contains("retry.pause") }, "\(daemon.log)")
        second.stop()
        await daemon.stop()
    }

    /// The sample, over and over, for at least a minute: the server plays a file once.
    private static func repeated(_ sample: String, in folder: TemporaryFolder) async throws -> String {
        let file = folder.path(sample)
        let outcome = try await Program.named(
            "ffmpeg",
            ["-v", "error", "-stream_loop", "12", "-i", Product.sample(sample), "-t", "100", "-c", "copy", file]
        ).run()
        try #require(outcome.status == 0, "\(outcome.errors)")
        return file
    }
}

extension RunningDaemon {
    /// The camera of this name in `iotctl camera list --json`.
    func camera(_ name: String) async throws -> [String: Any]? {
        let answer = try JSONSerialization.jsonObject(with: await iotctl("camera", "list", "--json").output)
        let cameras = (answer as? [String: Any])?["cameras"] as? [[String: Any]]
        return cameras?.first { $0["name"] as? String == name }
    }
}
