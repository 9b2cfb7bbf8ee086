import Foundation
import Testing

/// Two or more boxes, each a host with its own processes and data, over TLS.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoxesTests {
    private static func hubConfiguration(_ address: String) -> String {
        """
        hub:
          tls:
            listen: \(address):8883
        cameras:
          - name: front
            url: \(Product.sample("street-h264-aac.mp4"))
            live: accept

        """
    }

    /// `media.listen` is left out: boxes that know each other choose addresses at which they can reach each other.
    private static func gatewayConfiguration(
        camera: String? = nil, media: [String] = [], record: String? = nil
    ) -> String {
        var text = media.isEmpty ? "" : "media:\n" + media.map { "  \($0)\n" }.joined()
        if record != nil { text += "recording: {directory: rec, sync: strict, freeSpace: 0, maximumDays: 9}\n" }
        if let camera {
            text += "cameras:\n  - name: \(camera)\n    url: \(Product.sample("street-h265-aac.mp4"))\n"
            if let record { text += "    record: \(record)\n" }
        }
        return text
    }

    /// Starts the hub's box with its camera `front`.
    private func hub(_ network: TestNetwork) async throws -> RunningDaemon {
        try await RunningDaemon(
            configuration: Self.hubConfiguration(network.address("hub")), prefix: network.prefix("hub"))
    }

    private func enrolment(_ hub: RunningDaemon, _ arguments: String...) async throws -> String {
        let outcome = try await hub.iotctl(["token", "create", "--enrol"] + arguments)
        try #require(outcome.status == 0, "\(outcome.errors)")
        return outcome.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// A box that joins with an enrolment string.
    private func join(
        _ network: TestNetwork, _ host: String, _ enrolment: String, camera: String? = nil, media: [String] = [],
        record: String? = nil, folder: TemporaryFolder? = nil
    ) async throws -> RunningDaemon {
        let folder = try folder ?? TemporaryFolder()
        let file = try writeEnrolment(enrolment, folder)
        return try await RunningDaemon(
            folder: folder,
            configuration: Self.gatewayConfiguration(camera: camera, media: media, record: record),
            arguments: ["--join", file], prefix: network.prefix(host))
    }

    private func writeEnrolment(_ text: String, _ folder: TemporaryFolder) throws -> String {
        let file = folder.path("enrolment")
        _ = FileManager.default.createFile(
            atPath: file, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        return file
    }

    /// Joins with a string that must be refused, and returns the error output.
    private func refusedJoin(_ network: TestNetwork, _ host: String, _ enrolment: String) async throws -> String {
        let folder = try TemporaryFolder()
        let prefix = network.prefix(host)
        let outcome = try await Program(
            path: "/usr/bin/env",
            arguments: prefix + [
                Product.program("iotvideod"), "--data-dir", folder.path("data"), "--socket", folder.path("socket"),
                "--join", try writeEnrolment(enrolment, folder), "--join-only",
            ]
        ).run()
        #expect(outcome.status == 1, "\(outcome.text) \(outcome.errors)")
        return outcome.errors
    }

    private func require(_ outcome: Program.Outcome) throws -> Program.Outcome {
        try #require(outcome.status == 0, "\(outcome.errors)")
        return outcome
    }

    private func linkName(_ daemon: RunningDaemon) async throws -> String? {
        let answer = try await daemon.api.request("GET", "/v1/status")
        return (answer.object["link"] as? [String: Any])?["name"] as? String
    }

    @Test("A guest's gateway on another box can do what it was granted and nothing else; unbinding ends its monitor")
    func sharing() async throws {
        let network = try await TestNetwork(hosts: ["hub", "gateway"])
        let hub = try await hub(network)
        _ = try require(try await hub.iotctl("user", "create", "bob"))
        _ = try require(try await hub.iotctl("device", "bind", "front", "bob"))
        let bob = try await join(network, "gateway", try await enrolment(hub, "--user", "bob"))
        #expect(try await linkName(bob) == "online")

        let picture = bob.folder.path("front.jpg")
        let monitor = try require(try await bob.iotctl("monitor", "front", "--frames", "30", "--snapshot", picture))
        #expect(FileManager.default.fileExists(atPath: picture), "\(monitor.text)")
        let read = try require(try await bob.iotctl("property", "read", "front", "ProReadonly._online.stVal"))
        #expect(read.text == "1\n")

        let path = "ProWritable._logLevel.setVal"
        let refused = try await bob.iotctl("property", "write", "front", path, "4")
        #expect(refused.status == 1 && refused.errors.hasPrefix("error 8003 "), "\(refused.errors)")
        let action = try await bob.iotctl("action", "front", "Action.takePhoto")
        #expect(action.status == 1 && action.errors.hasPrefix("error 8003 "), "\(action.errors)")
        let users = try await bob.iotctl("user", "list")
        #expect(users.status == 1 && users.errors.hasPrefix("error 25005 "), "\(users.errors)")

        _ = try require(
            try await hub.iotctl(
                "device", "bind", "front", "bob", "--action", "view", "--action", "configure", "--action", "control"))
        _ = try require(try await bob.iotctl("property", "write", "front", path, "4"))
        let written = try require(try await hub.iotctl("property", "read", "front", path))
        #expect(written.text == "4\n")
        // The picture stays at the camera's box, because the hub between them could read it.
        let taken = try require(try await bob.iotctl("action", "front", "Action.takePhoto", "--json")).text
        let resource = try #require(taken.firstMatch(of: /\/v1\/resources\/photo-[0-9a-f]+.jpg/)).output
        let fetched = try await bob.api.request("GET", String(resource))
        #expect(fetched.status == 404 && String(decoding: fetched.body, as: UTF8.self).contains("encrypted channel"))
        _ = try require(try await bob.iotctl("action", "front", "Action.cameraOn", "1"))

        // A running monitor ends with the binding.
        let clock = ContinuousClock()
        async let watching = bob.iotctl("monitor", "front", "--duration", "60s", "--json")
        try await eventually("bob's channel plays") {
            let answer = try await bob.api.request("GET", "/v1/channels")
            let channels = answer.object["channels"] as? [[String: Any]] ?? []
            return channels.contains { channel in
                let player = (channel["state"] as? [String: Any])?["player"] as? [String: Any]
                return player?["name"] as? String == "playing"
            }
        }
        _ = try require(try await hub.iotctl("device", "unbind", "front", "bob"))
        let unbound = clock.now
        let ended = try await watching
        let took = clock.now - unbound
        #expect(ended.status == 1 && ended.errors.contains("\"code\":20014"), "\(ended.errors)")
        // The time includes the exit of the program.
        #expect(took < .seconds(2), "it took \(took)")
        let gone = try await bob.iotctl("device", "show", "front")
        #expect(gone.status == 1 && gone.errors.hasPrefix("error 8002 "), "\(gone.errors)")
        await bob.stop()
        await hub.stop()
    }

    @Test("Two boxes see and hear each other in a live call")
    func live() async throws {
        let network = try await TestNetwork(hosts: ["hub", "gateway"])
        let hub = try await hub(network)
        _ = try require(try await hub.iotctl("user", "create", "bob"))
        _ = try require(try await hub.iotctl("device", "bind", "front", "bob", "--action", "view", "--action", "talk"))
        let bob = try await join(
            network, "gateway", try await enrolment(hub, "--user", "bob", "--device", "desk"), camera: "desk")
        try await eventually("desk online") {
            try await bob.iotctl("property", "read", "desk", "ProReadonly._online.stVal").text == "1\n"
        }
        async let calling = bob.iotctl(
            "live", "front", "--camera", "desk", "--talk", Product.sample("speech.flac"), "--frames", "100",
            "--raw-video", bob.folder.path("seen.y4m"))
        try await eventually("the call") {
            try await hub.iotctl("property", "read", "front", "ProReadonly.liveCalls.stVal").text == "\"busy\"\n"
        }
        let (file, sound) = (hub.folder.path("caller.y4m"), hub.folder.path("caller.wav"))
        _ = try require(
            try await hub.iotctl(
                "monitor", "front", "--source", "caller", "--frames", "30", "--raw-video", file, "--raw-audio", sound))
        let shown = try await FrameDigests.of(file)
        let own = try await FrameDigests.of(Product.sample("street-h265-aac.mp4"))
        #expect(shown.count == 30 && FrameDigests.position(of: shown, inRepeated: own) != nil)
        let loudest = try Data(contentsOf: URL(fileURLWithPath: sound)).dropFirst(44).withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count - 1, by: 2).map {
                abs(Int(Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: Int16.self))))
            }.max() ?? 0
        }
        #expect(loudest > 2_000)
        _ = try require(try await calling)
        let seen = try await FrameDigests.of(bob.folder.path("seen.y4m"))
        let source = try await FrameDigests.of(Product.sample("street-h264-aac.mp4"))
        #expect(seen.count == 100 && FrameDigests.position(of: seen, inRepeated: source) != nil)
        await bob.stop()
        await hub.stop()
    }

    @Test("A camera on another box joins as a device, and a third box watches it")
    func cameraBox() async throws {
        let network = try await TestNetwork(hosts: ["hub", "camera", "gateway"])
        let hub = try await hub(network)
        let camera = try await join(
            network, "camera", try await enrolment(hub, "--device", "yard"), camera: "yard")
        _ = try require(try await hub.iotctl("user", "create", "carol"))
        _ = try require(try await hub.iotctl("device", "bind", "yard", "carol"))
        let carol = try await join(network, "gateway", try await enrolment(hub, "--user", "carol"))
        for watcher in [hub, carol] {
            try await eventually("yard online") {
                try await watcher.iotctl("property", "read", "yard", "ProReadonly._online.stVal").text == "1\n"
            }
            let monitor = try require(try await watcher.iotctl("monitor", "yard", "--frames", "20", "--json"))
            #expect(monitor.text.contains("h265"), "\(monitor.text)")
            // The camera is on another box: the picture comes over a channel, which is closed afterwards.
            let file = watcher.folder.path("yard.jpg")
            _ = try require(try await watcher.iotctl("snapshot", "yard", file, "--size", "320"))
            let size = try await Program.named(
                "ffprobe", ["-v", "error", "-show_entries", "stream=codec_name,width,height", "-of", "csv=p=0", file]
            ).run()
            #expect(size.text.trimmingCharacters(in: .whitespacesAndNewlines) == "mjpeg,320,240", "\(size)")
            let metrics = try await watcher.api.request("GET", "/metrics")
            if metrics.status == 200 {
                #expect(String(decoding: metrics.body, as: UTF8.self).contains("iotvideod_channel_connections 0\n"))
            }
        }
        // Both boxes keep their identities over a restart.
        await camera.stop()
        try await eventually("yard offline") {
            try await carol.iotctl("property", "read", "yard", "ProReadonly._online.stVal").text == "0\n"
        }
        let again = try await RunningDaemon(
            folder: camera.folder,
            configuration: Self.gatewayConfiguration(camera: "yard"),
            prefix: network.prefix("camera"))
        try await eventually("yard online again") {
            try await carol.iotctl("property", "read", "yard", "ProReadonly._online.stVal").text == "1\n"
        }
        for daemon in [again, carol, hub] { await daemon.stop() }
    }

    @Test("While the box of a recorded camera is offline, the hub says when it was recorded")
    func recordedAndOffline() async throws {
        let network = try await TestNetwork(hosts: ["hub", "camera"])
        let hub = try await hub(network)
        let camera = try await join(
            network, "camera", try await enrolment(hub, "--device", "yard"), camera: "yard", record: "continuous")
        func get(_ box: RunningDaemon, _ path: String) async throws -> [String: Any] {
            try await box.api.request("GET", "/v1/devices/yard/" + path).object
        }
        let path = "recordings/ranges"
        func ranges(_ answer: [String: Any]) -> [[String: Any]] { answer["ranges"] as? [[String: Any]] ?? [] }
        try await eventually("the hub was told of some seconds") {
            let told = try await get(hub, "storage")
            guard let start = told["startTime"] as? Int, start > 0 else { return false }
            let now = try await get(hub, path)
            #expect(now["asOf"] == nil)
            return (ranges(now).last?["end"] as? Int ?? 0) - start * 1_000 > 8_000
        }
        let start = try #require(try await get(hub, "storage")["startTime"] as? Int)
        let days = try await get(hub, "recordings/days?zone=Pacific/Kiritimati")
        #expect((days["days"] as? [Any])?.count == 1 && days["asOf"] == nil)
        await camera.stop()
        try await eventually("yard offline") {
            try await hub.iotctl("property", "read", "yard", "ProReadonly._online.stVal").text == "0\n"
        }
        // Until the last report.
        let offline = try await get(hub, path)
        let last = try #require(ranges(offline).last, "\(offline)")
        let asOf = try #require(offline["asOf"] as? Int)
        #expect(last["start"] as? Int == start * 1_000 && (last["end"] as? Int ?? 0) > start * 1_000, "\(last)")
        #expect(asOf > start * 1_000)
        let daysOffline = try await get(hub, "recordings/days?zone=Pacific/Kiritimati")
        #expect(
            NSArray(array: daysOffline["days"] as? [Any] ?? []) == NSArray(array: days["days"] as? [Any] ?? [])
                && daysOffline["asOf"] as? Int == asOf)
        let detail = try await get(hub, "storage")
        #expect(detail["status"] as? Int == 1 && detail["playbackDays"] as? Int == 9, "\(detail)")
        #expect(detail["asOf"] as? Int == asOf / 1_000)
        let list = try await get(hub, "storage/playlist?startTime=\(start - 10)&endTime=0")
        #expect((list["list"] as? [[String: Int]])?.first?["start"] == start, "\(list)")
        let shown = try await hub.iotctl("recording", "ranges", "yard")
        #expect(shown.status == 0 && shown.errors.contains("offline"), "\(shown)")
        // What needs the box says so.
        try await eventually("a list that only the box has is refused") {
            (try await get(hub, "recordings")["error"] as? [String: Any])?["code"] as? Int == 8000
        }
        // It comes back, and is not recorded any more; what there is can still be played.
        let again = try await RunningDaemon(
            folder: camera.folder, configuration: Self.gatewayConfiguration(camera: "yard", record: "none"),
            prefix: network.prefix("camera"))
        try await eventually("the hub was told that it is not recorded any more") {
            try await get(hub, "storage")["status"] as? Int == 2
        }
        let online = try await get(hub, path)
        #expect(online["asOf"] == nil && ranges(online).first?["start"] as? Int ?? 0 >= start * 1_000, "\(online)")
        let played = try await hub.iotctl("playback", "yard", "--from", "1h", "--duration", "1s", "--json")
        #expect(played.status == 0, "\(played.errors)")
        await again.stop()
        // A guest needs the right.
        _ = try require(try await hub.iotctl("user", "create", "carol"))
        _ = try require(try await hub.iotctl("device", "bind", "yard", "carol"))
        let carol = try await join(network, "camera", try await enrolment(hub, "--user", "carol"))
        #expect((try await get(carol, path)["error"] as? [String: Any])?["code"] as? Int == 8003)
        for daemon in [carol, hub] { await daemon.stop() }
    }

    @Test("Boxes whose UDP reaches only a TURN server watch each other through it")
    func relayed() async throws {
        let network = try await TestNetwork(hosts: ["hub", "camera", "gateway"])
        let folder = try TemporaryFolder()
        let server = try await TURNServer(on: "hub", of: network, in: folder)
        for host in ["camera", "gateway"] { try await network.allowUDP(of: host, onlyTo: TURNServer.port) }
        let hub = try await hub(network)
        // Only the camera's box has the server in its configuration: it sends it to callers.
        let secret = try writeEnrolment(server.secret, folder)
        let media = [
            "iceServers: ['turn:\(network.address("hub")):\(TURNServer.port)']", "turnSecretFile: \(secret)",
        ]
        let camera = try await join(
            network, "camera", try await enrolment(hub, "--device", "yard"), camera: "yard", media: media)
        _ = try require(try await hub.iotctl("user", "create", "carol"))
        _ = try require(try await hub.iotctl("device", "bind", "yard", "carol"))
        let carol = try await join(network, "gateway", try await enrolment(hub, "--user", "carol"))
        try await eventually("yard online") {
            try await carol.iotctl("property", "read", "yard", "ProReadonly._online.stVal").text == "1\n"
        }
        let monitor = try require(try await carol.iotctl("monitor", "yard", "--frames", "20", "--json"))
        #expect(monitor.text.contains("h265"), "\(monitor.text)")
        for daemon in [camera, carol, hub] { await daemon.stop() }
        withExtendedLifetime(server) {}
    }

    @Test("An enrolment string is valid once, until it expires, and at its own hub only")
    func refusals() async throws {
        let network = try await TestNetwork(hosts: ["hub", "other", "gateway"])
        let hub = try await hub(network)
        let other = try await RunningDaemon(
            configuration: Self.hubConfiguration(network.address("other")), prefix: network.prefix("other"))
        _ = try require(try await hub.iotctl("user", "create", "bob"))

        let used = try await enrolment(hub, "--user", "bob")
        let bob = try await join(network, "gateway", used)
        #expect(try await refusedJoin(network, "gateway", used).hasPrefix("error 21101 "), "used")

        // A string with the other hub's address and this hub's secret, and the reverse.
        let fresh = try await enrolment(hub, "--user", "bob")
        let elsewhere = fresh.replacingOccurrences(
            of: network.address("hub"), with: network.address("other"))
        let swapped = try await refusedJoin(network, "gateway", elsewhere)
        #expect(swapped.hasPrefix("error 25027 "), "\(swapped)")
        var components = fresh.split(separator: "=").map(String.init)
        components[components.count - 1] = String(components[components.count - 1].reversed())
        let wrongAuthority = try await refusedJoin(network, "gateway", components.joined(separator: "="))
        #expect(wrongAuthority.hasPrefix("error 25027 "), "\(wrongAuthority)")

        let short = try await enrolment(hub, "--user", "bob", "--ttl", "1s")
        try await eventually("the string expires") { try await isOver(short, hub) }
        #expect(try await refusedJoin(network, "gateway", short).hasPrefix("error 21101 "), "expired")

        // A token of another hub: the link's state shows the failure.
        let foreign = try require(try await other.iotctl("token", "create", "--link", "--ttl", "1h"))
        let folder = try TemporaryFolder()
        _ = FileManager.default.createFile(
            atPath: folder.path("token"), contents: foreign.output, attributes: [.posixPermissions: 0o600])
        try FileManager.default.copyItem(
            atPath: bob.folder.path("data/link/ca.pem"), toPath: folder.path("ca.pem"))
        let stranger = try await RunningDaemon(
            folder: folder,
            configuration: """
                hub:
                  enabled: false
                link:
                  accessId: owner
                  tokenFile: token
                  endpoint: \(network.address("hub")):8883
                  certificateAuthorityFile: ca.pem

                """, prefix: network.prefix("gateway"))
        try await eventually("tokenFailed") { try await linkName(stranger) == "tokenFailed" }
        for daemon in [stranger, bob, other, hub] { await daemon.stop() }
    }

    /// Whether no token of this enrolment string is in the hub's list, or it has expired.
    private func isOver(_ enrolment: String, _ hub: RunningDaemon) async throws -> Bool {
        let list = try await hub.api.request("GET", "/v1/tokens")
        let tokens = list.object["tokens"] as? [[String: Any]] ?? []
        let now = Date().timeIntervalSince1970
        return tokens.allSatisfy { token in
            guard let id = token["id"] as? String, enrolment.contains(id) else { return true }
            return (token["expires"] as? Double).map { $0 < now } ?? true
        }
    }

    @Test("A second gateway of the account kicks the first off, which stays offline until the user registers it again")
    func kickOff() async throws {
        let network = try await TestNetwork(hosts: ["hub", "first", "second"])
        let hub = try await hub(network)
        _ = try require(try await hub.iotctl("user", "create", "bob"))
        let first = try await join(network, "first", try await enrolment(hub, "--user", "bob"))
        let second = try await join(network, "second", try await enrolment(hub, "--user", "bob"))
        try await eventually("the first is kicked off") { try await linkName(first) == "kickOff" }
        #expect(try await linkName(second) == "online")
        let refused = try await first.iotctl("device", "list")
        #expect(refused.status == 1 && refused.errors.hasPrefix("error 21025 "), "\(refused.errors)")
        #expect(try await linkName(first) == "kickOff")

        _ = try require(try await first.iotctl("link", "register"))
        try await eventually("the first is back") { try await linkName(first) == "online" }
        try await eventually("the second is kicked off") { try await linkName(second) == "kickOff" }
        for daemon in [first, second, hub] { await daemon.stop() }
    }

    @Test("After a cable was out for a while, everything continues")
    func cable() async throws {
        let network = try await TestNetwork(hosts: ["hub", "gateway"])
        let hub = try await hub(network)
        _ = try require(try await hub.iotctl("user", "create", "bob"))
        _ = try require(
            try await hub.iotctl("device", "bind", "front", "bob", "--action", "configure", "--action", "view"))
        let bob = try await join(network, "gateway", try await enrolment(hub, "--user", "bob"))
        try await network.setLink("gateway", isUp: false)
        async let written = bob.iotctl("user-property", "add", "front", "cable", "1")
        try await network.setLink("gateway", isUp: true)
        _ = try require(try await written)
        let read = try require(try await hub.iotctl("property", "read", "front", "ProUser.cable.val"))
        #expect(read.text == "1\n")
        for daemon in [bob, hub] { await daemon.stop() }
    }
}
