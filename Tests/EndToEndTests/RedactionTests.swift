import Foundation
import Testing

/// What the log of a whole run contains at `info` and above, and how `iotctl log` shows it. With real processes.
@Suite(.timeLimit(.minutes(3))) struct RedactionTests {
    private static let user = "lens-user"
    private static let passwords = ["in-the-url-8f3Kq", "in-a-file-Zt51w"]
    /// Names of cameras that cannot be reached, without the domain.
    private static let hosts = ["nowhere-in-the-configuration", "nowhere-added-later"]

    private struct LogLine: Decodable {
        var level: String
        var message: String
        var facts: [String: String]
    }

    @Test("No line of a whole run names an address, a camera's host, a token, a key, a password or a network")
    func wholeRun() async throws {
        let servers = try await [server(Self.passwords[0]), server(Self.passwords[1])]
        let hub = try await ProvisioningHub(configuration: try Self.configuration(servers[0]))
        let daemon = hub.daemon
        let follower = try Self.log(daemon, "--follow")
        try await Self.add(servers[1], to: daemon)
        var secrets = Self.passwords + Self.hosts + [Self.user, CameraBox.password, CameraBox.proof, "HomeNet"]
        secrets += try await Self.credentials(of: daemon)

        // Somebody watches both cameras, and others are refused.
        for camera in ["front", "porch"] {
            let picture = daemon.folder.path("\(camera).jpg")
            let watched = try await daemon.iotctl("monitor", camera, "--snapshot", picture)
            try #require(watched.status == 0, "\(watched.errors)\n\(daemon.log)")
        }
        let refused = try daemon.tcpAPI(token: "not-a-token-of-this-hub")
        #expect(try await refused.request("GET", "/v1/status").status == 401)
        secrets.append("not-a-token-of-this-hub")
        let player = try await Self.refusedPlayer(of: daemon)
        secrets.append(player)
        for camera in ["gone", "far", "locked", "later"] {
            try await eventually("the failure of \(camera)", within: .seconds(30)) {
                try await daemon.camera(camera)?["state"] as? String == "failed"
            }
        }

        // A new box gets the name and the password of a network, and a token, and its camera is watched.
        let token = try await hub.token()
        let box = try CameraBox()
        let camera = try await box.start()
        let provisioned = try await box.provision(port: try await box.port(of: camera), token: token)
        try #require(provisioned.status == 0, "\(provisioned.errors)\n\(camera.log)")
        secrets.append(String(token.token.suffix(22)))
        _ = try hub.device(
            of: try await daemon.iotctl("net", "wait", token.id, "--timeout", "60s", "--json"), camera)
        let printed = try await daemon.iotctl("log", "--json")
        #expect(printed.status == 0, "\(printed.errors)")
        try await Self.expectFilters(daemon, of: try Self.lines(printed.text))

        #expect(await camera.stop() == 0)
        #expect(await daemon.stop() == 0)
        _ = await follower.ended()
        let lines = try Self.lines(follower.output)
        #expect(lines.contains { $0.message == "play stage" && $0.facts["channel.number"] != nil }, "\(lines.count)")
        for (name, log) in [
            ("the hub's stderr", daemon.log), ("iotctl log", printed.text), ("iotctl log --follow", follower.output),
            ("the box's stderr", camera.log),
        ] {
            #expect(log.contains("info"), "\(name) is empty")
            for line in log.split(separator: "\n") {
                for secret in secrets { #expect(!line.contains(secret), "\(name) has \(secret): \(line)") }
                #expect(Self.address(in: line) == nil, "\(name) has an address: \(line)")
            }
        }
    }

    // MARK: The run

    private static func configuration(_ server: RTSPServer) throws -> String {
        let closed = try FreePort.tcp()
        return """
            log: {level: info}
            api: {listen: "127.0.0.1:0"}
            rtsp: {listen: "127.0.0.1:0"}
            cameras:
              - {name: front, url: '\(url(server.url, password: passwords[0]))'}
              - {name: gone, url: '\(url(RTSPServer.url(port: closed), password: passwords[0]))'}
              - {name: far, url: '\(url("rtsp://\(hosts[0]).invalid/live", password: passwords[0]))'}
              - {name: locked, url: '\(url(server.url, password: passwords[1]))'}

            """
    }

    private static func url(_ url: String, password: String) -> String {
        url.replacingOccurrences(of: "rtsp://", with: "rtsp://\(user):\(password)@")
    }

    private static func add(_ server: RTSPServer, to daemon: RunningDaemon) async throws {
        let file = daemon.folder.path("camera-password")
        let isMade = FileManager.default.createFile(
            atPath: file, contents: Data(passwords[1].utf8), attributes: [.posixPermissions: 0o600])
        try #require(isMade)
        for (name, url) in [("porch", server.url), ("later", "rtsp://\(hosts[1]).invalid/live")] {
            let added = try await daemon.iotctl(
                "camera", "add", name, url, "--username", user, "--password-file", file)
            try #require(added.status == 0, "\(added.errors)")
        }
    }

    /// Creates a token or a key of each kind, and returns their secret parts.
    private static func credentials(of daemon: RunningDaemon) async throws -> [String] {
        var secrets: [String] = []
        for arguments in [
            ["token", "create", "--api", "--name", "tablet"], ["token", "create", "--link", "--name", "box"],
            ["token", "create", "--enrol", "--device", "shed"], ["key", "create", "tv", "--device", "front"],
        ] {
            let made = try await daemon.iotctl(arguments)
            try #require(made.status == 0, "\(made.errors)")
            secrets.append(String(made.text.trimmingCharacters(in: .whitespacesAndNewlines).suffix(22)))
        }
        return secrets
    }

    /// Lets an RTSP player log in with a wrong password, and returns the password.
    private static func refusedPlayer(of daemon: RunningDaemon) async throws -> String {
        let port = try #require(daemon.log.firstMatch(of: /rtsp\.port="?(\d+)/)?.1, "\(daemon.log)")
        let password = "0123456789WrongKeyOfAPlayer12345"
        let player = try await Program.named(
            "ffprobe", ["-v", "error", "rtsp://0123456789:\(password)@127.0.0.1:\(port)/front"]
        ).run()
        #expect(player.status != 0 && player.errors.contains("401"), "\(player.errors)")
        return password
    }

    private func server(_ password: String) async throws -> RTSPServer {
        try await RTSPServer(file: Product.sample("street-h264-aac.mp4"), user: Self.user, password: password)
    }

    // MARK: The log

    /// Checks that `--level` and `--channel` show their lines and no others.
    private static func expectFilters(_ daemon: RunningDaemon, of all: [LogLine]) async throws {
        let important = ["warning", "error", "critical"]
        let warnings = try lines(try await daemon.iotctl("log", "--json", "--level", "warning").text)
        #expect(!warnings.isEmpty && warnings.allSatisfy { important.contains($0.level) }, "\(warnings)")
        #expect(all.contains { !important.contains($0.level) })
        let channels = Set(all.compactMap { $0.facts["channel.number"] })
        let channel = try #require(channels.first)
        #expect(channels.count > 1)
        let play = try lines(try await daemon.iotctl("log", "--json", "--channel", channel).text)
        #expect(play.contains { $0.message == "play stage" }, "\(play)")
        #expect(play.allSatisfy { $0.facts["channel.number"] == channel }, "\(play)")
        let wrong = try await daemon.iotctl("log", "--level", "loud")
        #expect(wrong.status != 0 && wrong.errors.contains("--level must be one of"), "\(wrong.errors)")
    }

    private static func log(_ daemon: RunningDaemon, _ arguments: String...) throws -> BackgroundProgram {
        try BackgroundProgram(
            [Product.program("iotctl"), "log", "--json"] + arguments,
            environment: ["IOTCTL_SOCKET": daemon.folder.path("socket")])
    }

    private static func lines(_ text: String) throws -> [LogLine] {
        try text.split(separator: "\n").map { try JSONDecoder().decode(LogLine.self, from: Data($0.utf8)) }
    }

    /// The IP address in the text, if there is one.
    private static func address(in text: some StringProtocol) -> String? {
        let version4 = #/(^|[^0-9.])[0-9]{1,3}(\.[0-9]{1,3}){3}($|[^0-9.])/#
        let short6 = #/::[0-9A-Fa-f]|[0-9A-Fa-f]::/#
        let long6 = #/(^|[^0-9A-Fa-f:])([0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}($|[^0-9A-Fa-f:])/#
        let text = String(text)
        let found =
            text.firstMatch(of: version4)?.0 ?? text.firstMatch(of: short6)?.0 ?? text.firstMatch(of: long6)?.0
        return found.map(String.init)
    }
}
