import Foundation
import Testing

/// Releases at the hub, and what it offers for a camera, with real processes.
@Suite(.serialized, .timeLimit(.minutes(3))) struct FirmwareTests {
    private static let cameras = ["front": Product.sample("street-h264-aac.mp4")]
    private static let listening = "api: {listen: \"127.0.0.1:0\"}\n"

    /// A file of 1 MB with its manifest and its signature.
    private func sign(_ version: String, _ folder: TemporaryFolder, _ more: String...) async throws -> String {
        let key = folder.path("release.key")
        let program = Product.program("iotctl")
        if !FileManager.default.fileExists(atPath: key) {
            _ = try await Program(path: program, arguments: ["firmware", "key", "create", key]).run()
        }
        let file = folder.path("box-\(version).deb")
        let seed = version.utf8.reduce(0) { $0 &* 31 &+ Int($1) }
        try Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: ($0 &* 7 &+ seed) >> 3) })
            .write(to: URL(fileURLWithPath: file))
        let model = try await Program.named("dpkg", ["--print-architecture"]).run().text.dropLast()
        let arguments = ["sign", file, "--key", key, "--model", "iotvideod-\(model)", "--version", version] + more
        let outcome = try await Program(path: program, arguments: ["firmware"] + arguments).run()
        #expect(outcome.status == 0, "\(outcome.errors)")
        return file
    }

    private func offer(_ daemon: RunningDaemon, _ query: String = "") async throws -> [String: Any] {
        try await daemon.api.request("GET", "/v1/devices/front/firmware\(query)").object
    }

    @Test("A release is offered when its file is complete, also after a restart, while the camera is offline")
    func offers() async throws {
        let folder = try TemporaryFolder()
        var daemon = try await RunningDaemon(cameras: Self.cameras)
        let descriptions = ["--description", "en=Faster.", "--description", "de=Schneller."]
        let file = try await sign("9.1.0", folder, descriptions[0], descriptions[1], descriptions[2], descriptions[3])
        let old = try await sign("0.0.1", folder)
        let later = try await sign("9.2.0", folder, "--from", "9.1.*")
        for file in [file, old, later] {
            let added = try await daemon.iotctl("firmware", "release", "add", file)
            #expect(added.status == 0 && added.text.hasSuffix("1000000 bytes\n"), "\(added.errors)")
        }
        try await eventually("the camera's version at the hub") {
            try await offer(daemon)["currentVersion"] != nil
        }
        await daemon.stop()

        // The camera is no longer configured, but its device is still there.
        daemon = try await RunningDaemon(folder: daemon.folder)
        let offline = try await daemon.iotctl("firmware", "front", "--language", "de-AT")
        #expect(offline.status == 0 && offline.text.contains("newest       9.1.0"), "\(offline.errors)")
        #expect(offline.text.contains("what is new  Schneller."), "\(offline.text)")
        let offered = try await offer(daemon)
        #expect(offered["description"] as? String == "Faster." && offered["size"] as? Int == 1_000_000)
        #expect(try await offer(daemon, "?currentVersion=9.1.5")["version"] as? String == "9.2.0")
        let newest = try await daemon.iotctl("firmware", "show", "front", "--current-version", "9.2.0")
        #expect(newest.status == 0 && newest.text == "version 9.2.0: there is no newer release\n", "\(newest.errors)")

        let place = try #require(offered["url"] as? String)
        let whole = try await daemon.api.request("GET", place)
        let content = try Data(contentsOf: URL(fileURLWithPath: file))
        #expect(whole.status == 200 && whole.body == content)
        let rest = try await daemon.api.request("GET", place, headers: ["Range: bytes=999990-"])
        #expect(rest.status == 206 && rest.body == whole.body.suffix(10))

        let id = try #require(offered["id"] as? String)
        let list = try await daemon.iotctl("firmware", "release", "list")
        #expect(list.text.contains(id) && list.text.contains("9.1.*"), "\(list.text)")
        let removed = try await daemon.iotctl("firmware", "release", "remove", id, "--yes")
        #expect(removed.status == 0, "\(removed.errors)")
        #expect(try await offer(daemon)["available"] as? Bool == false)
        #expect(try await daemon.api.request("GET", place).status == 404)
        let files = try FileManager.default.contentsOfDirectory(atPath: daemon.folder.path("data/firmware"))
        #expect(files.count == 2 && !files.contains(id), "its file is gone")
        await daemon.stop()
    }

    @Test("An upload that broke off continues, and a killed hub's half file is not offered")
    func continued() async throws {
        let folder = try TemporaryFolder()
        var daemon = try await RunningDaemon(cameras: Self.cameras)
        let file = try await sign("9.1.0", folder)
        let content = try Data(contentsOf: URL(fileURLWithPath: file))
        let manifest = try String(contentsOfFile: file + ".manifest", encoding: .utf8)
        let signature = try Data(contentsOf: URL(fileURLWithPath: file + ".manifest.sig")).base64EncodedString()
        let body = try JSONSerialization.data(withJSONObject: ["manifest": manifest, "signature": signature])
        let added = try await daemon.api.request(
            "POST", "/v1/firmware/releases", body: String(decoding: body, as: UTF8.self))
        let id = try #require(added.object["id"] as? String, "\(String(decoding: added.body, as: UTF8.self))")
        func send(_ range: Range<Int>, at place: Int) async throws -> APIClient.Answer {
            let part = folder.path("part")
            try content[range].write(to: URL(fileURLWithPath: part))
            let last = place + range.count - 1
            return try await daemon.api.request(
                "PUT", "/v1/firmware/releases/\(id)/file", body: "@\(part)",
                headers: ["Content-Type: application/octet-stream", "Content-Range: bytes \(place)-\(last)/1000000"])
        }
        #expect(try await send(0..<200_000, at: 0).object["received"] as? Int == 200_000)
        // The same part again, as after a lost answer.
        let again = try await send(0..<200_000, at: 0)
        #expect(again.status == 409, "\(again.object)")
        #expect(try await daemon.api.request("GET", "/v1/firmware/releases/\(id)/file").status == 409)
        daemon.kill()
        _ = await daemon.ended()

        daemon = try await RunningDaemon(cameras: Self.cameras, folder: daemon.folder)
        let shown = try await daemon.api.request("GET", "/v1/firmware/releases/\(id)").object
        #expect(shown["received"] as? Int == 200_000 && shown["complete"] as? Bool == false)
        let rest = try await daemon.iotctl("firmware", "release", "add", file)
        #expect(rest.status == 0 && rest.text.hasPrefix(id), "\(rest.errors)")
        #expect(try await daemon.api.request("GET", "/v1/firmware/releases/\(id)/file").body == content)
        await daemon.stop()
    }

    @Test("A file that is not the manifest's is refused before it is sent, and by the hub if it is sent anyway")
    func swapped() async throws {
        let folder = try TemporaryFolder()
        let daemon = try await RunningDaemon(cameras: Self.cameras)
        let file = try await sign("9.1.0", folder)
        let url = URL(fileURLWithPath: file)
        let content = try Data(contentsOf: url)
        var other = content
        other[0] ^= 1
        try other.write(to: url)
        let refused = try await daemon.iotctl("firmware", "release", "add", file)
        #expect(refused.status == 1 && refused.errors.hasPrefix("error 25142 "), "\(refused.errors)")
        #expect(try await daemon.iotctl("firmware", "release", "list").text.split(separator: "\n").count == 1)

        let manifest = try String(contentsOfFile: file + ".manifest", encoding: .utf8)
        let body = try JSONSerialization.data(withJSONObject: [
            "manifest": manifest, "signature": Data(count: 64).base64EncodedString(),
        ])
        let added = try await daemon.api.request(
            "POST", "/v1/firmware/releases", body: String(decoding: body, as: UTF8.self))
        let id = try #require(added.object["id"] as? String)
        var status = 0
        for place in stride(from: 0, to: 1_000_000, by: 250_000) {
            let part = folder.path("part")
            try other[place..<place + 250_000].write(to: URL(fileURLWithPath: part))
            status = try await daemon.api.request(
                "PUT", "/v1/firmware/releases/\(id)/file", body: "@\(part)",
                headers: [
                    "Content-Type: application/octet-stream",
                    "Content-Range: bytes \(place)-\(place + 249_999)/1000000",
                ]
            ).status
        }
        #expect(status == 422)
        #expect(try await offer(daemon)["available"] as? Bool == false)
        #expect(try FileManager.default.contentsOfDirectory(atPath: daemon.folder.path("data/firmware")) == [])
        await daemon.stop()
    }

    @Test("An account without the device gets 8003, one with it the offer; releases are for administrators")
    func rights() async throws {
        let folder = try TemporaryFolder()
        let daemon = try await RunningDaemon(cameras: Self.cameras, configuration: Self.listening)
        _ = try await daemon.iotctl("firmware", "release", "add", try await sign("9.1.0", folder))
        #expect(try await daemon.iotctl("user", "create", "bob").status == 0)
        let token = try await daemon.iotctl("token", "create", "--api", "--user", "bob", "--ttl", "1h")
        try #require(token.status == 0, "\(token.errors)")
        let api = try daemon.tcpAPI(token: token.text.trimmingCharacters(in: .newlines))
        let device = try #require(
            try await daemon.api.request("GET", "/v1/devices/front").object["id"] as? String)
        func code(_ method: String, _ path: String) async throws -> Int? {
            (try await api.request(method, path).object["error"] as? [String: Any])?["code"] as? Int
        }
        #expect(try await code("GET", "/v1/devices/\(device)/firmware") == 8003)
        #expect(try await code("GET", "/v1/firmware/releases") == 25005)
        #expect(try await daemon.iotctl("device", "bind", "front", "bob").status == 0)
        try await eventually("the offer") {
            try await api.request("GET", "/v1/devices/\(device)/firmware").object["version"] as? String == "9.1.0"
        }
        let place = try await api.request("GET", "/v1/devices/\(device)/firmware").object["url"] as? String
        #expect(try await api.request("GET", try #require(place)).status == 200)
        #expect(try await code("DELETE", "/v1/firmware/releases/\(place!.split(separator: "/")[3])") == 25005)
        await daemon.stop()
    }
}
