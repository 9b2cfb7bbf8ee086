import Foundation
import Testing

/// Changes of the configuration while the daemon runs.
@Suite(.serialized, .timeLimit(.minutes(3))) struct ReloadTests {
    private static let clip = Product.sample("street-h264-aac.mp4")
    private static let other = Product.sample("street-h265-aac.mp4")

    /// A daemon with a configuration file that the test can change.
    private struct Box {
        let folder: TemporaryFolder
        let daemon: RunningDaemon

        init(_ text: String) async throws {
            folder = try TemporaryFolder()
            try Self.write(text, folder)
            daemon = try await RunningDaemon(folder: folder, arguments: ["--config", folder.path("c.yaml")])
        }

        static func write(_ text: String, _ folder: TemporaryFolder) throws {
            try text.write(toFile: folder.path("c.yaml"), atomically: true, encoding: .utf8)
        }

        func reload(_ text: String) throws {
            try Self.write(text, folder)
            daemon.kill(SIGHUP)
        }

        /// `name url` of each running camera.
        func cameras() async throws -> [String] {
            let outcome = try await daemon.iotctl("camera", "list", "--json")
            try #require(outcome.status == 0, "\(outcome.errors)")
            let list = try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any]
            let cameras = try #require(list?["cameras"] as? [[String: Any]], "\(outcome.text)")
            return cameras.map { "\($0["name"] ?? "") \($0["url"] ?? "")" }
        }

        func expect(_ expected: [String]) async throws {
            try await eventually("the cameras \(expected)") { try await cameras() == expected }
        }

        func device(_ name: String) async throws -> (id: String, isOnline: Bool)? {
            let outcome = try await daemon.iotctl("device", "list", "--json")
            let list = try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any]
            let devices = try #require(list?["devices"] as? [[String: Any]], "\(outcome.text)")
            guard let device = devices.first(where: { $0["name"] as? String == name }) else { return nil }
            return (device["id"] as? String ?? "", device["online"] as? Bool ?? false)
        }
    }

    @Test("SIGHUP adds, changes and removes cameras while a monitor of another camera keeps every frame")
    func addChangeRemove() async throws {
        let front = "cameras:\n  - {name: front, url: \(Self.clip)}\n"
        let box = try await Box(front)
        let output = try TemporaryFolder()
        // Two loops of the clip less one frame.
        let count = 399
        async let monitor = box.daemon.iotctl(
            "monitor", "front", "--frames", "\(count)", "--raw-video", output.path("v.y4m"), "--json")
        try await eventually("the monitor's first frames") {
            let attributes = try? FileManager.default.attributesOfItem(atPath: output.path("v.y4m"))
            return (attributes?[.size] as? Int ?? 0) > 1_000_000
        }

        try box.reload(front + "  - {name: side, url: \(Self.clip)}\n")
        try await box.expect(["front \(Self.clip)", "side \(Self.clip)"])
        try await eventually("side online") { try await box.device("side")?.isOnline == true }
        let before = try #require(try await box.device("side"))

        try box.reload(front + "  - {name: side, url: \(Self.other), viewers: 2}\n")
        try await box.expect(["front \(Self.clip)", "side \(Self.other)"])
        try await eventually("side online again") { try await box.device("side")?.isOnline == true }
        #expect(try await box.device("side")?.id == before.id, "a changed camera stays the same device")
        let picture = try await box.daemon.iotctl(
            "monitor", "side", "--frames", "3", "--snapshot", output.path("s.png"))
        #expect(picture.status == 0, "\(picture.errors)\n\(box.daemon.log)")

        let ports = box.daemon.udpPorts.count
        try box.reload(front)
        try await box.expect(["front \(Self.clip)"])
        try await eventually("side offline") { try await box.device("side")?.isOnline == false }
        try await eventually("side's port closed") { box.daemon.udpPorts.count == ports - 1 }

        let outcome = try await monitor
        try #require(outcome.status == 0, "\(outcome.errors)\n\(box.daemon.log)")
        let raw = try await FrameDigests.of(output.path("v.y4m"))
        #expect(raw.count == count)
        let source = try await FrameDigests.of(Self.clip)
        #expect(FrameDigests.position(of: raw, inRepeated: source) != nil, "front's video has a gap")
        #expect(await box.daemon.stop() == 0)
    }

    @Test("A wrong configuration is refused as a whole and logged, and the old one stays in use")
    func refusal() async throws {
        let box = try await Box("cameras: [{name: front, url: \(Self.clip)}]\n")
        try box.reload(
            "log: {level: debug}\ncameras:\n  - {name: side, url: \(Self.other)}\n  - {name: front, ulr: x}\n")
        try await eventually("the refusal") { box.daemon.log.contains("the old one stays in use") }
        #expect(box.daemon.log.contains("c.yaml:4: cameras[1].ulr: is not a known key; did you mean url?"))
        #expect(!box.daemon.log.contains(" debug "), "the level was taken from a refused configuration")
        #expect(try await box.cameras() == ["front \(Self.clip)"])

        // A missing secret, and a configuration file that was removed.
        try box.reload("cameras: [{name: a, url: 'rtsp://127.0.0.1:1/', username: u, passwordFile: none}]\n")
        try await eventually("the second refusal") { box.daemon.log.contains("camera 'a', passwordFile:") }
        try FileManager.default.removeItem(atPath: box.folder.path("c.yaml"))
        box.daemon.kill(SIGHUP)
        try await eventually("the third refusal") { box.daemon.log.contains("c.yaml cannot be read") }
        #expect(try await box.cameras() == ["front \(Self.clip)"])
        #expect(await box.daemon.stop() == 0)
    }

    @Test("The log level changes immediately; a key that needs a restart is logged and changes nothing")
    func keys() async throws {
        let box = try await Box("log: {level: error}\n")
        // logrotate renames the audit log before the reload.
        let audit = box.daemon.folder.path("data/audit.log")
        #expect(try await box.daemon.iotctl("user", "create", "before").status == 0)
        try FileManager.default.moveItem(atPath: audit, toPath: audit + ".old")
        // The message has the level notice, so the new log level is already in effect.
        try box.reload("log: {level: notice}\nmedia: {listen: '127.0.0.1:9'}\n")
        try await eventually("the reload") { box.daemon.log.contains("needs a restart: media.listen") }
        #expect(box.daemon.log.contains("applied: log.level"))
        #expect(try await box.daemon.iotctl("user", "create", "after").status == 0)
        #expect(try String(contentsOfFile: audit, encoding: .utf8).contains("/v1/users"))
        box.daemon.kill(SIGHUP)
        try await eventually("the same again") {
            box.daemon.log.components(separatedBy: "needs a restart: media.listen").count == 3
        }
        #expect(!box.daemon.udpPorts.contains(9))
        #expect(await box.daemon.stop() == 0)
    }
}
