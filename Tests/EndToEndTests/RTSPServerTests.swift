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
        let match = daemon.log.firstMatch(of: #/RTSP listens at rtsps?://127\.0\.0\.1, port (\d+)/#)
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
        try await Program.named(
            "ffmpeg",
            // `-t` ends what nothing else does.
            [
                "-v", "error", "-rtsp_transport", transport, "-i", url, "-map", "0:v:0", "-fps_mode", "passthrough",
                "-t", "60",
            ] + arguments + ["-f", "framemd5", "-"]
        ).run()
    }

    private static func digests(_ outcome: Program.Outcome) -> [String] {
        outcome.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap {
            $0.split(separator: ",").last?.trimmingCharacters(in: .whitespaces)
        }
    }

    @Test("ffmpeg shows exactly the frames of each sample, over TCP and UDP", arguments: ["tcp", "udp"])
    func frames(transport: String) async throws {
        let daemon = try await Self.daemon()
        let port = try Self.port(daemon)
        let key = try await Self.key(daemon, "player", "--ttl", "1h")
        try await Self.compare(daemon, Self.samples, transport: transport) { key.url(port, $0) }
        #expect(await daemon.stop() == 0)
    }

    @Test("ffmpeg shows exactly the frames of a sample over TLS")
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
                    let shown = digests(outcome)
                    #expect(shown.count == frames, "\(sample.file)")
                    let place = FrameDigests.position(of: shown, inRepeated: source)
                    #expect(place != nil, "\(sample.file) over \(transport): frames are not the source's")
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("Another box reads the cameras with our own client: its viewers see exactly the samples' frames")
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

    @Test("Wrong keys, keys of other cameras, unknown cameras and second streams are refused with their status")
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
        #expect(!daemon.log.contains(key.text), "no log holds a key")
        #expect(await daemon.stop() == 0)
    }

    @Test("A revoked key ends its player, over TCP and UDP; another key's player goes on")
    func ends() async throws {
        let daemon = try await Self.daemon(cameras: Array(Self.samples.prefix(1)))
        let port = try Self.port(daemon)
        let key = try await Self.key(daemon, "player", "--ttl", "1h")
        for transport in ["tcp", "udp"] {
            let own = try await Self.key(daemon, "own \(transport)", "--ttl", "1h")
            let viewers = { @Sendable in
                let status = try await daemon.api.request("GET", "/v1/status").object
                let shared = status["shared"] as? [String: [String: Int]]
                return shared?["readers"]?["used"]
            }
            let player = Task { try await Self.play(own.url(port, "cam0"), transport: transport) }
            let other = Task { try await Self.play(key.url(port, "cam0"), transport: "tcp", ["-frames:v", "150"]) }
            try await eventually("both players") { try await viewers() == 2 }
            let revoked = try await daemon.iotctl("key", "revoke", own.id, "--yes")
            #expect(revoked.status == 0, "\(revoked.errors)")
            try await eventually("the end of one", within: .seconds(10)) { try await viewers() ?? 9 <= 1 }
            let ended = try await player.value
            #expect(!Self.digests(ended).isEmpty)
            // The camera's ring holds 12 s, so that the other one has not got its pictures yet.
            #expect(try await viewers() == 1, "the key's player ended before the other")
            let rest = try await other.value
            #expect(rest.status == 0 && Self.digests(rest).count == 150, "the other player goes on: \(rest.errors)")
        }
        #expect(await daemon.stop() == 0)
    }
}
