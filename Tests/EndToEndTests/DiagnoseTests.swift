import Foundation
import Testing

/// `iotctl diagnose` on real set-ups with one fault each: it names that fault, and no other.
@Suite(.serialized, .timeLimit(.minutes(4))) struct DiagnoseTests {
    private struct Report: Decodable {
        struct Finding: Decodable {
            var problem: String
            var part: String
        }

        var findings: [Finding]
    }

    /// Returns the problems that it names.
    private static func problems(
        _ daemon: RunningDaemon, _ camera: String, _ arguments: String...
    ) async throws -> [String] {
        let outcome = try await daemon.iotctl(["diagnose", camera, "--json"] + arguments)
        try #require(outcome.status <= 1, "\(outcome.errors)\n\(daemon.log)")
        let report = try JSONDecoder().decode(Report.self, from: outcome.output)
        #expect((outcome.status == 0) == report.findings.isEmpty)
        return report.findings.map(\.problem)
    }

    /// Makes a clip with ffmpeg.
    private static func clip(_ name: String, in folder: TemporaryFolder, _ arguments: [String]) async throws -> String {
        let file = folder.path(name)
        let made = try await Program.named("ffmpeg", ["-nostdin", "-v", "error"] + arguments + [file]).run()
        try #require(made.status == 0, "\(made.errors)")
        return file
    }

    @Test("A slow source, rare key frames, muted sound, and a camera in order")
    func media() async throws {
        let folder = try TemporaryFolder()
        let street = Product.sample("street-h264-aac.mp4")
        let h264 = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"]
        let pictures = ["-f", "lavfi", "-i", "testsrc=size=320x240:rate=10"]
        // The stream announces 50 pictures a second, and has 10.
        let fast = try await Self.clip(
            "fast.mp4", in: folder,
            ["-f", "lavfi", "-i", "testsrc=size=320x240:rate=50", "-t", "8"] + h264 + ["-g", "20"])
        let slow = try await Self.clip("slow.mp4", in: folder, ["-i", fast, "-c", "copy", "-bsf:v", "setts=ts=TS*5"])
        let rare = try await Self.clip(
            "rare.mp4", in: folder, pictures + ["-t", "30"] + h264 + ["-g", "150", "-sc_threshold", "0"])
        let muted = try await Self.clip(
            "muted.mp4", in: folder,
            pictures + ["-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono", "-t", "20"] + h264
                + ["-g", "20", "-c:a", "aac"])
        // By RTP, because a file has another rate in its header.
        let server = try await RTSPServer(file: slow)
        let daemon = try await RunningDaemon(
            cameras: ["slow": server.url, "rare": rare, "muted": muted, "fine": street])
        async let slowSource = Self.problems(daemon, "slow")
        async let keyFrames = Self.problems(daemon, "rare")
        async let sound = Self.problems(daemon, "muted")
        async let none = Self.problems(daemon, "fine")
        #expect(try await slowSource == ["slowSource"])
        #expect(try await keyFrames == ["keyFramesFarApart"])
        #expect(try await sound == ["silentSound"])
        #expect(try await none == [])
        server.stop()
        #expect(await daemon.stop() == 0)
    }

    @Test("A stream that no machine decodes in time")
    func decoder() async throws {
        let folder = try TemporaryFolder()
        // 500 pictures of 33 million pixels a second: only to copy them takes 50 GB/s. A quiet machine needs 13 ms for one.
        // They are all equal, so that the stream itself is small, and reading and sending it costs little.
        let part = try await Self.clip(
            "part.mp4", in: folder,
            [
                "-f", "lavfi", "-i", "color=c=gray:size=7680x4320:rate=500", "-frames:v", "20", "-c:v", "libx264",
                "-preset", "ultrafast", "-crf", "45", "-g", "20", "-pix_fmt", "yuv420p",
            ])
        let large = try await Self.clip(
            "large.mp4", in: folder, ["-stream_loop", "49", "-i", part, "-c", "copy"])
        let daemon = try await RunningDaemon(cameras: ["large": large])
        // A busy machine also reads and sends it too slowly; one that is very busy for some seconds sends less than it can
        // decode.
        var problems: [String] = []
        for _ in 0..<4 where !problems.contains("slowDecoder") {
            problems = try await Self.problems(daemon, "large", "--duration", "6s")
        }
        #expect(problems.contains("slowDecoder"), "\(problems)")
        #expect(Set(problems).isSubset(of: ["slowDecoder", "slowSource"]))
        #expect(await daemon.stop() == 0)
    }

    @Test("A firewall between the gateway and the camera")
    func route() async throws {
        let network = try await TestNetwork(hosts: ["hub", "gateway"])
        let hub = try await RunningDaemon(
            cameras: ["front": Product.sample("street-h264-aac.mp4")],
            configuration: "hub: {tls: {listen: '\(network.address("hub")):8883'}}\n", prefix: network.prefix("hub"))
        for arguments in [["user", "create", "bob"], ["device", "bind", "front", "bob"]] {
            try #require(try await hub.iotctl(arguments).status == 0)
        }
        let enrolment = try await hub.iotctl("token", "create", "--enrol", "--user", "bob")
        try #require(enrolment.status == 0, "\(enrolment.errors)")
        let folder = try TemporaryFolder()
        let file = folder.path("enrolment")
        _ = FileManager.default.createFile(
            atPath: file, contents: enrolment.output, attributes: [.posixPermissions: 0o600])
        let gateway = try await RunningDaemon(
            folder: folder, arguments: ["--join", file], prefix: network.prefix("gateway"))
        // Nothing but DNS.
        try await network.allowUDP(of: "gateway", onlyTo: 53)
        #expect(try await Self.problems(gateway, "front") == ["noRoute"])
        await gateway.stop()
        await hub.stop()
    }
}
