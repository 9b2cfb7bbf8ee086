import Foundation
import Testing

/// The RTSP server of a real daemon, read by ffmpeg.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RTSPServerTests {
    private static let frames = 60
    private static let samples = MonitorSample.all

    private struct Key {
        let id: String
        let text: String

        func url(_ port: Int, _ camera: String, scheme: String = "rtsp") -> String {
            "\(scheme)://\(id):\(text)@127.0.0.1:\(port)/\(camera)"
        }
    }

    private static func daemon(tls: Bool = false, cameras: [MonitorSample] = samples) async throws -> RunningDaemon {
        let items = cameras.enumerated().map { "  - {name: cam\($0), url: \($1.path)}" }
        return try await RunningDaemon(
            configuration: """
                rtsp: {listen: "127.0.0.1:0", tls: \(tls)}
                cameras:
                \(items.joined(separator: "\n"))

                """)
    }

    private static func port(_ daemon: RunningDaemon) throws -> Int {
        let match = daemon.log.firstMatch(of: #/rtsp\.port="?(\d+).*RTSP listens/#)
        return try #require(match.flatMap { Int($0.1) }, "\(daemon.log)")
    }

    private static func key(_ daemon: RunningDaemon, _ arguments: String...) async throws -> Key {
        let made = try await daemon.iotctl(["key", "create"] + arguments)
        try #require(made.status == 0, "\(made.errors)")
        let text = made.text.trimmingCharacters(in: .whitespacesAndNewlines)
        return Key(id: String(text.prefix(10)), text: text)
    }

    private static func play(_ url: String, transport: String = "tcp", _ arguments: [String] = []) async throws
        -> Program.Outcome
    {
        try await Program.named("ffmpeg", player(url, transport: transport, arguments)).run()
    }

    /// ffmpeg's arguments. `-t` ends a player that nothing else ends.
    private static func player(_ url: String, transport: String, _ arguments: [String] = []) -> [String] {
        [
            "-v", "error", "-rtsp_transport", transport, "-i", url, "-map", "0:v:0", "-fps_mode", "passthrough",
            "-t", "60",
        ] + arguments + ["-flush_packets", "1", "-f", "framemd5", "-"]
    }

    private static func digests(_ output: String) -> [String] {
        output.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap {
            $0.split(separator: ",").last?.trimmingCharacters(in: .whitespaces)
        }
    }

    @Test("ffmpeg gets exactly the frames of each sample over TCP and UDP", arguments: ["tcp", "udp"])
    func frames(transport: String) async throws {
        let daemon = try await Self.daemon()
        let port = try Self.port(daemon)
        let key = try await Self.key(daemon, "player", "--ttl", "1h")
        try await Self.compare(daemon, Self.samples, transport: transport) { key.url(port, $0) }
        #expect(await daemon.stop() == 0)
    }

    @Test("ffmpeg gets exactly the frames of a sample over TLS")
    func encrypted() async throws {
        let samples = Array(Self.samples.prefix(1))
        let daemon = try await Self.daemon(tls: true, cameras: samples)
        let port = try Self.port(daemon)
        let key = try await Self.key(daemon, "player", "--ttl", "1h")
        try await Self.compare(daemon, samples, transport: "tcp") { key.url(port, $0, scheme: "rtsps") }
        #expect(await daemon.stop() == 0)
    }

    private static func compare(
        _ daemon: RunningDaemon, _ samples: [MonitorSample], transport: String,
        _ url: @escaping @Sendable (String) -> String
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, sample) in samples.enumerated() {
                group.addTask {
                    let outcome = try await play(
                        url("cam\(index)"), transport: transport, ["-frames:v", "\(frames)"])
                    try #require(outcome.status == 0, "\(sample.file): \(outcome.errors)\n\(daemon.log)")
                    let source = try await FrameDigests.of(sample.path)
                    let shown = digests(outcome.text)
                    #expect(shown.count == frames, "\(sample.file)")
                    let place = FrameDigests.position(of: shown, inRepeated: source)
                    #expect(place != nil, "\(sample.file) over \(transport): the frames differ from the source's")
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("Another box reads the cameras with our own client; its viewers get exactly the samples' frames")
    func ownClient() async throws {
        let samples = Array(Self.samples.prefix(3))
        let daemon = try await Self.daemon(cameras: samples)
        let port = try Self.port(daemon)
        let key = try await Self.key(daemon, "box", "--ttl", "1h")
        let folder = try TemporaryFolder()
        let file = folder.path("key")
        let isWritten = FileManager.default.createFile(
            atPath: file, contents: Data(key.text.utf8), attributes: [.posixPermissions: 0o600])
        try #require(isWritten)
        let cameras = samples.indices.map {
            "  - {name: via\($0), url: 'rtsp://127.0.0.1:\(port)/cam\($0)', username: '\(key.id)', passwordFile: \(file)}"
        }
        let other = try await RunningDaemon(configuration: (["cameras:"] + cameras).joined(separator: "\n"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, sample) in samples.enumerated() {
                group.addTask { try await MonitorTests.monitor(other, "via\(index)", sample, count: 40) }
            }
            try await group.waitForAll()
        }
        #expect(await other.stop() == 0)
        #expect(await daemon.stop() == 0)
    }

    @Test("A camera with rtsps:// is refused with its fingerprint, and read exactly with that fingerprint only")
    func encryptedCamera() async throws {
        let sample = Self.samples[0]
        let daemon = try await Self.daemon(tls: true, cameras: [sample])
        let port = try Self.port(daemon)
        let key = try await Self.key(daemon, "box", "--ttl", "1h")
        let other = try await RunningDaemon(configuration: "cameras: []")
        func add(_ name: String, _ certificate: String?) async throws -> Program.Outcome {
            try await other.iotctl(
                ["camera", "add", name, "rtsps://127.0.0.1:\(port)/cam0", "--username", key.id]
                    + ["--password-file", "-", "--check"] + (certificate.map { ["--certificate", $0] } ?? []),
                input: key.text)
        }
        let presented = try await Program.named(
            "sh", ["-c", "openssl s_client -connect 127.0.0.1:\(port) | openssl x509 -noout -fingerprint -sha256"]
        ).run()
        let fingerprint = try #require(
            presented.text.split(separator: "=").last?.trimmingCharacters(in: .newlines), "\(presented.errors)")

        for (certificate, words) in [
            (nil, "is unknown"), (String(repeating: "ab", count: 32), "different certificate"),
        ] {
            let refused = try await add("door", certificate)
            #expect(refused.status == 1 && refused.errors.hasPrefix("error 25027 "), "\(refused.errors)")
            #expect(refused.errors.contains(words) && refused.errors.contains(fingerprint), "\(refused.errors)")
        }
        // The request that asks for a login is not counted, but the client would have sent another one.
        let metrics = try await daemon.api.request("GET", "/metrics")
        #expect(!String(decoding: metrics.body, as: UTF8.self).contains("iotvideod_rtsp_requests_total{"))
        let added = try await add("door", fingerprint)
        try #require(added.status == 0, "\(added.errors)\n\(other.log)")
        try await MonitorTests.monitor(other, "door", sample, count: 40)
        let wrong = ["camera", "set", "door", "--certificate", String(repeating: "ab", count: 32)]
        let refused = try await other.iotctl(wrong + ["--check"])
        #expect(refused.errors.hasPrefix("error 25027 "), "\(refused.errors)")
        #expect(try await other.iotctl("camera", "show", "door").text.contains(fingerprint), "nothing changed")
        // Without --check the camera is changed, and fails.
        _ = try await other.iotctl(wrong)
        let shown = try await other.iotctl("camera", "show", "door").text
        #expect(shown.contains("failed since") && shown.contains("25027") && shown.contains("over TLS"), "\(shown)")
        let accepting = try await other.iotctl("camera", "set", "door", "--certificate", "any", "--check")
        #expect(accepting.status == 0, "\(accepting.errors)")
        #expect(await other.stop() == 0)
        #expect(await daemon.stop() == 0)
    }

    @Test("Wrong keys, keys of other cameras, unknown cameras and second streams each get their status")
    func refusals() async throws {
        let daemon = try await Self.daemon(cameras: Array(Self.samples.prefix(2)))
        let port = try Self.port(daemon)
        let key = try await Self.key(daemon, "player", "--device", "cam0", "--ttl", "1h")
        let wrong = Key(id: key.id, text: String(key.text.dropLast(2)) + "AA")
        let cases = [
            (wrong.url(port, "cam0"), "401"), ("rtsp://127.0.0.1:\(port)/cam0", "401"),
            (key.url(port, "cam1"), "403"), (key.url(port, "cam9"), "404"), (key.url(port, "cam0/low"), "404"),
        ]
        for (url, status) in cases {
            let outcome = try await Self.play(url)
            #expect(outcome.status != 0 && outcome.errors.contains(status), "\(status): \(outcome.errors)")
        }
        #expect(!daemon.log.contains(key.text), "the log contains no key")
        #expect(await daemon.stop() == 0)
    }

    @Test("A revoked key ends its players, over TCP and UDP; the player of another key continues")
    func ends() async throws {
        let daemon = try await Self.daemon(cameras: Array(Self.samples.prefix(1)))
        let port = try Self.port(daemon)
        let revoked = try await Self.key(daemon, "revoked", "--ttl", "1h")
        let kept = try await Self.key(daemon, "kept", "--ttl", "1h")
        let readers = { @Sendable in
            let status = try await daemon.api.request("GET", "/v1/status").object
            let shared = status["shared"] as? [String: [String: Int]]
            return shared?["readers"]?["used"]
        }
        let players = ["tcp", "udp"].map { transport in
            Task { try await Self.play(revoked.url(port, "cam0"), transport: transport) }
        }
        let other = try BackgroundProgram(["ffmpeg"] + Self.player(kept.url(port, "cam0"), transport: "tcp"))
        // Waits for RTCP BYE (packet type 203) on channel 1.
        let raw = try BackgroundProgram([
            "python3", "-u", "-c",
            """
            import sys
            sys.path.insert(0, sys.argv[1] + "/Benchmarks")
            from rtsp_players import Player
            player = Player(int(sys.argv[2]), "cam0", sys.argv[3], sys.argv[4], "tcp")
            player.play()
            player.control.settimeout(60)
            while data := player.control.recv(65536):
                player.buffered = (player.buffered + data)[-4096:]
            print("BYE" if bytes([0x81, 203]) in player.buffered[-256:] else "no BYE")
            """, Product.root.path, "\(port)", revoked.id, revoked.text,
        ])
        try await eventually("four readers") { try await readers() == 4 }
        try await eventually("the other player's pictures") { !Self.digests(other.output).isEmpty }
        let outcome = try await daemon.iotctl("key", "revoke", revoked.id, "--yes")
        #expect(outcome.status == 0, "\(outcome.errors)")
        try await eventually("the end of three readers", within: .seconds(10)) { try await readers() ?? 9 <= 1 }
        for player in players {
            let ended = try await player.value
            #expect(!Self.digests(ended.text).isEmpty, "\(ended.errors)")
        }
        try await eventually("BYE to the raw player") { raw.output.contains("BYE") }
        #expect(!raw.output.contains("no BYE"))
        #expect(try await readers() == 1)
        // More pictures than can wait in buffers, because the player is at the live edge.
        let count = Self.digests(other.output).count
        try await eventually("further pictures for the other player") { Self.digests(other.output).count > count + 20 }
        #expect(await daemon.stop() == 0)
    }

    @Test(
        "A player that stalls is disconnected after 30 s, and the other players get every picture meanwhile",
        .enabled(if: ProcessInfo.processInfo.environment["LONG_TESTS"] != nil, "it takes 42 s: make test-long"))
    func stalls() async throws {
        let samples = Array(Self.samples.prefix(1))
        let daemon = try await Self.daemon(cameras: samples)
        let port = try Self.port(daemon)
        let key = try await Self.key(daemon, "players", "--ttl", "1h")
        let readers = { @Sendable in
            let status = try await daemon.api.request("GET", "/v1/status").object
            let shared = status["shared"] as? [String: [String: Int]]
            return shared?["readers"]?["used"]
        }
        let long = ["-t", "120"]
        let others = try ["tcp", "udp"].map { transport in
            try BackgroundProgram(["ffmpeg"] + Self.player(key.url(port, "cam0"), transport: transport, long))
        }
        let stalled = try BackgroundProgram(["ffmpeg"] + Self.player(key.url(port, "cam0"), transport: "tcp", long))
        try await eventually("pictures for all players") {
            (others + [stalled]).allSatisfy { !Self.digests($0.output).isEmpty }
        }
        #expect(try await readers() == 3)
        // The kernel keeps the connection of a stopped process open, and fills its buffers.
        stalled.send(SIGSTOP)
        try await eventually("the end of the stalled player", within: .seconds(60)) { try await readers() == 2 }
        stalled.send(SIGKILL)
        let source = try await FrameDigests.of(samples[0].path)
        for other in others {
            // The last line may be incomplete.
            let shown = Array(Self.digests(other.output).dropLast())
            #expect(shown.count > 200, "pictures of 30 s")
            #expect(FrameDigests.position(of: shown, inRepeated: source) != nil, "pictures are missing")
        }
        #expect(await daemon.stop() == 0)
    }
}
