import Foundation
import Testing

/// Media keys: a real daemon with full logging, `iotctl`, and curl without an Authorization header.
@Suite(.serialized, .timeLimit(.minutes(3))) struct MediaKeyTests {
    private let configuration = """
        api: {listen: "127.0.0.1:0"}
        log: {level: trace}
        cameras:
          - {name: front, url: \(Product.sample("street-h264-aac.mp4"))}
          - {name: back, url: \(Product.sample("street-h265-aac.mp4"))}

        """

    private struct Key {
        let id: String
        let text: String
    }

    private func makeKey(_ daemon: RunningDaemon, _ arguments: String...) async throws -> Key {
        let outcome = try await daemon.iotctl(["key", "create"] + arguments + ["--json"])
        try #require(outcome.status == 0, "\(outcome.errors)")
        let made = try #require(try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
        return Key(id: try #require(made["id"] as? String), text: try #require(made["key"] as? String))
    }

    /// An endless response body that is written to a file.
    private struct Stream {
        let file: String
        let outcome: Task<Program.Outcome, any Error>

        /// Returns when the first bytes have arrived.
        init(_ address: String, in folder: TemporaryFolder) async throws {
            let file = folder.path(UUID().uuidString)
            self.file = file
            // curl's own `--max-time` is status 28: a stream that the daemon ends has another status.
            outcome = Task {
                try await Program.named("curl", ["-sS", "--max-time", "60", "-N", "-o", file, address]).run()
            }
            try await eventually("the stream's first bytes") {
                (FileManager.default.contents(atPath: file)?.count ?? 0) > 0
            }
        }

        var text: String { String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self) }
    }

    @Test("A key opens its camera's media and events and nothing else; revoking it ends them; no file contains it")
    func life() async throws {
        let daemon = try await RunningDaemon(configuration: configuration)
        let bodies = try TemporaryFolder()
        let api = try daemon.tcpAPI()
        let printed = try await daemon.iotctl("key", "create", "tablet", "--device", "front", "--ttl", "1h")
        let text = printed.text.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(printed.status == 0 && text.count == 32, "\(printed.errors)")
        #expect(printed.errors.contains(text.prefix(10)) && !printed.errors.contains(text))
        let key = Key(id: String(text.prefix(10)), text: text)
        let query = "key=\(key.text)"

        let opened = try await daemon.api.request("POST", "/v1/channels", body: #"{"device":"front"}"#)
        let channel = try #require(opened.object["id"] as? String)
        _ = try await daemon.api.request("POST", "/v1/channels/\(channel)/play")
        let media = "\(api.origin)/v1/channels/\(channel)"
        let recording = try await Stream("\(media)/recording.mp4?\(query)", in: bodies)
        let events = try await Stream("\(api.origin)/v1/events?device=front&\(query)", in: bodies)
        let watch = try await Stream("\(api.origin)/v1/devices/front/properties/watch?\(query)", in: bodies)
        let snapshot = try await api.request("GET", "/v1/channels/\(channel)/snapshot?\(query)")
        #expect(snapshot.status == 200 && snapshot.body.starts(with: [0xFF, 0xD8, 0xFF]))

        let offer = Product.root.appendingPathComponent(
            "Tests/PeerTransportTests/Fixtures/chromium-offer-recvonly.sdp")
        let call = try await Program.named(
            "curl",
            [
                "-sS", "-i", "-H", "Content-Type: application/sdp", "--data-binary", "@\(offer.path)",
                "\(api.origin)/v1/devices/front/whep?\(query)",
            ]
        ).run().text
        let location = try #require(call.firstMatch(of: #/(?i)\blocation: (\S+)/#)?.1, "\(call)")
        #expect(location.hasSuffix("?\(query)"))
        #expect(try await api.request("DELETE", String(location)).status == 200)

        for (method, path) in [
            ("GET", "/v1/status"), ("GET", "/v1/devices"), ("GET", "/v1/devices/front"), ("GET", "/v1/keys"),
            ("GET", "/v1/devices/front/properties"), ("POST", "/v1/keys"), ("POST", "/v1/channels"),
            ("DELETE", "/v1/channels/\(channel)"), ("GET", "/v1/device-events"), ("GET", "/metrics"),
            ("GET", "/healthz"),
        ] {
            let answer = try await api.request(method, "\(path)?\(query)", body: method == "POST" ? "{}" : nil)
            #expect(answer.status == 403, "\(method) \(path): \(answer.status)")
            #expect((answer.object["error"] as? [String: Any])?["code"] as? Int == 25005)
        }
        // The caller of a live call.
        let source = try await Program.named(
            "curl",
            [
                "-sS", "-H", "Content-Type: application/sdp", "--data-binary", "@\(offer.path)",
                "\(api.origin)/v1/devices/front/whep?source=caller&\(query)",
            ]
        ).run().text
        #expect(source.contains("25005") && source.contains("media key"), "\(source)")
        // Another camera of the same account.
        #expect(try await api.request("GET", "/v1/devices/back/properties/watch?\(query)").status == 403)
        let other = String(key.text.dropLast()) + (key.text.hasSuffix("A") ? "Q" : "A")
        for wrong in [other, "0123456789" + key.text.dropFirst(10)] {
            #expect(try await api.request("GET", "/v1/events?key=\(wrong)").status == 401)
        }

        let listed = try await daemon.iotctl("key", "list")
        #expect(listed.text.contains(key.id) && listed.text.contains("tablet") && !listed.text.contains(key.text))
        #expect(try await daemon.iotctl("key", "revoke", key.id).status != 0, "a script needs --yes")
        #expect(try await daemon.iotctl("key", "revoke", key.id, "--yes").status == 0)
        for stream in [recording, events, watch] { #expect(try await stream.outcome.value.status != 28) }
        #expect(events.text.contains("25004") && watch.text.contains("25004"), "\(events.text)")
        #expect(try await api.request("GET", "/v1/channels/\(channel)/snapshot?\(query)").status == 401)

        let audit = try String(contentsOfFile: daemon.folder.path("data/audit.log"), encoding: .utf8)
        #expect(audit.contains(#""key":"\#(key.id)""#))
        await daemon.stop()
        try expectNoFile(in: daemon.folder, with: key)
    }

    /// Checks that no file (log, audit log, database, the broker's files) contains the key's secret half.
    private func expectNoFile(in folder: TemporaryFolder, with key: Key) throws {
        let secret = Data(key.text.utf8.dropFirst(10))
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        #expect(names.contains { $0.hasSuffix("hub.sqlite") } && names.contains { $0.hasSuffix("daemon.err") })
        for name in names {
            let content = FileManager.default.contents(atPath: folder.path(name)) ?? Data()
            #expect(content.firstRange(of: secret) == nil, "\(name)")
        }
    }

    @Test("A key is valid after a restart, and until its account is unbound from the camera")
    func restartAndUnbinding() async throws {
        var daemon = try await RunningDaemon(configuration: configuration)
        let bodies = try TemporaryFolder()
        #expect(try await daemon.iotctl("user", "create", "guest").status == 0)
        #expect(try await daemon.iotctl("device", "bind", "front", "guest").status == 0)
        let key = try await makeKey(daemon, "tv", "--user", "guest", "--device", "front")
        await daemon.stop()

        daemon = try await RunningDaemon(folder: daemon.folder, configuration: configuration)
        let api = try daemon.tcpAPI()
        let path = "/v1/devices/front/properties/watch?key=\(key.text)"
        let watch = try await Stream(api.origin + path, in: bodies)
        #expect(try await daemon.iotctl("device", "unbind", "front", "guest").status == 0)
        #expect(try await watch.outcome.value.status != 28)
        #expect(watch.text.contains("8003"), "\(watch.text)")
        #expect([403, 404].contains(try await api.request("GET", path).status))
        await daemon.stop()
    }
}
