import Foundation
import Testing

/// The way of a new device with a provisioning token, between two real boxes.
@Suite(.serialized, .timeLimit(.minutes(3))) struct ProvisioningTests {
    private static let clip = Product.sample("street-h265-aac.mp4")

    private struct Token: Decodable {
        var id: String
        var token: String
        var hub: String
        var enrolment: String
    }

    private static func token(_ hub: RunningDaemon, _ arguments: [String] = []) async throws -> Token {
        let outcome = try await hub.iotctl(["net", "token", "--json"] + arguments)
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(Token.self, from: outcome.output)
    }

    private static func join(_ folder: TemporaryFolder, _ string: String) async throws -> Program.Outcome {
        try await Program(
            path: Product.program("iotvideod"),
            arguments: [
                "--data-dir", folder.path("data"), "--camera", "yard=\(clip)", "--join", "-", "--join-only",
            ], input: Data(string.utf8)
        ).run()
    }

    /// Whether a file below `folder` holds the text.
    private static func files(in folder: String, holding text: String) throws -> [String] {
        let found = try #require(FileManager.default.enumerator(atPath: folder))
        var files: [String] = []
        for case let name as String in found {
            guard let data = FileManager.default.contents(atPath: folder + "/" + name) else { continue }
            if data.range(of: Data(text.utf8)) != nil { files.append(name) }
        }
        return files
    }

    @Test("A new box comes with a token, is its asker's and online, and the asker hears of it; it serves once")
    func way() async throws {
        let port = Int.random(in: 20_000..<30_000)
        let hub = try await RunningDaemon(
            configuration: "hub: {tls: {listen: '127.0.0.1:\(port)', names: [localhost]}}\n")
        let token = try await Self.token(hub)
        #expect(token.token.utf8.count == 32 && token.hub.hasPrefix("iotlink://localhost:\(port)?ca="))
        async let waited = hub.iotctl("net", "wait", token.id, "--timeout", "60s", "--json")

        let folder = try TemporaryFolder()
        let joined = try await Self.join(folder, token.enrolment)
        try #require(joined.status == 0, "\(joined.errors)\n\(hub.log)")
        #expect(joined.text.contains("devices: yard"), "\(joined.text)")
        let box = try await RunningDaemon(cameras: ["yard": Self.clip], folder: folder)
        let outcome = try await waited
        try #require(outcome.status == 0, "\(outcome.errors)\n\(hub.log)\n\(box.log)")
        let status = try #require(try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
        let binding = try #require(status["binding"] as? [String: Any])
        #expect(status["phase"] as? String == "online" && status["name"] as? String == "yard")
        #expect(binding["user"] as? String == "owner" && binding["role"] as? String == "owner")

        let events = try await hub.iotctl("event", "list", "--topic", "EVENT_SYS/NetCfg_OK", "--json")
        let device = try #require(binding["device"] as? String)
        #expect(events.text.contains(token.id) && events.text.contains(device))
        // S042: the token of the bind result subscribes.
        let subscribed = try await hub.iotctl(
            ["device", "subscribe", "-"], input: try #require(binding["accessToken"] as? String))
        #expect(subscribed.status == 0 && subscribed.text.contains("owner is owner"), "\(subscribed.errors)")
        // What has ended is told at once, whoever asks later.
        #expect(try await hub.iotctl("net", "wait", token.id).status == 0)

        // Used: another box gets nothing.
        let other = try await Self.join(try TemporaryFolder(), token.enrolment)
        #expect(other.status == 1 && other.errors.contains("error 21101"), "\(other.errors)")
        let devices = try await hub.iotctl("device", "list", "--json")
        #expect(devices.text.components(separatedBy: "\"id\"").count == 2, "\(devices.text)")
        // No log and no file has the secret.
        let secret = String(token.token.suffix(22))
        for folder in [hub.folder.path(""), box.folder.path("")] {
            #expect(try Self.files(in: folder, holding: secret).isEmpty)
        }
        #expect(await box.stop() == 0)
        await hub.stop()
    }

    @Test("A token that nobody uses ends with 21101, and one that is revoked too")
    func over() async throws {
        let hub = try await RunningDaemon()
        let short = try await Self.token(hub, ["--ttl", "1s"])
        let expired = try await hub.iotctl("net", "wait", short.id)
        #expect(expired.status == 1 && expired.errors.contains("error 21101"), "\(expired.errors)")
        let revoked = try await Self.token(hub)
        #expect(try await hub.iotctl("token", "revoke", revoked.id, "--yes").status == 0)
        let over = try await hub.iotctl("net", "wait", revoked.token)
        #expect(over.status == 1 && over.errors.contains("error 21101"), "\(over.errors)")
        let impatient = try await Self.token(hub)
        let late = try await hub.iotctl("net", "wait", impatient.id, "--timeout", "500ms")
        #expect(late.status == 1 && late.errors.contains("no device has used the token"), "\(late.errors)")
        await hub.stop()
    }
}
