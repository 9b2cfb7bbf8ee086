import Foundation
import Testing

/// A person sets the network and the hub of a new camera box: over its access point, by a QR code, over a wired network
/// and by the plaintext scheme. With real processes; the Wi-Fi is a dry run.
@Suite(.timeLimit(.minutes(5))) struct ProvisioningModeTests {
    @Test("Over the access point: bound, sends pictures, and no log contains a secret", arguments: [1, 2])
    func accessPoint(security: Int) async throws {
        let hub = try await ProvisioningHub()
        let token = try await hub.token()
        async let waited = hub.daemon.iotctl("net", "wait", token.id, "--timeout", "60s", "--json")
        let box = try CameraBox(security: security)
        let camera = try await box.start()
        let outcome = try await box.provision(port: try await box.port(of: camera), token: token)
        try #require(outcome.status == 0, "\(outcome.errors)\n\(camera.log)")
        #expect(outcome.text.contains("bound") && outcome.text.contains("HomeNet"), "\(outcome.text)")

        let device = try hub.device(of: try await waited, camera)
        // The camera reported its new id to `net ap`.
        #expect(outcome.text.contains(device), "\(outcome.text)")
        try await hub.expectPictures(of: "yard", camera)
        for secret in [CameraBox.password, CameraBox.proof, String(token.token.suffix(22))] {
            #expect(!camera.log.contains(secret) && !outcome.errors.contains(secret))
            #expect(try box.dataFiles(holding: secret).isEmpty)
        }
        #expect(await camera.stop() == 0)
        // The box now has a hub, so it starts without the mode.
        let again = try await box.start()
        try await eventually("the camera online again") {
            try await hub.daemon.iotctl("device", "list").text.contains(#/yard .* yes /#)
        }
        #expect(!again.log.contains("provisioning mode began"))
        #expect(await again.stop() == 0)
        await hub.daemon.stop()
    }

    /// How the code is shown: its format, and ffmpeg's filters that distort its picture.
    struct View: Sendable, CustomTestStringConvertible {
        var format: String
        var filters: String

        var testDescription: String { "\(format)\(filters.isEmpty ? "" : ", at an angle and blurred")" }
    }

    @Test(
        "By a QR code in the camera's own H.264 pictures",
        arguments: [
            View(format: "tlv", filters: ""),
            View(
                format: "json",
                filters: "scale=520:520,pad=iw+120:ih+120:60:60:color=white,"
                    + "rotate=0.35:fillcolor=0x909080:ow=rotw(0.35):oh=roth(0.35),"
                    + "perspective=x0=30:y0=40:x1=W-10:y1=0:x2=0:y2=H-20:x3=W-50:y3=H,gblur=sigma=1.1,"),
        ])
    func code(view: View) async throws {
        let hub = try await ProvisioningHub()
        let token = try await hub.token()
        async let waited = hub.daemon.iotctl("net", "wait", token.id, "--timeout", "60s", "--json")
        let box = try CameraBox(ways: "qr")
        let picture = box.folder.path("code.png")
        let made = try await Program(
            path: Product.program("iotctl"),
            arguments: [
                "net", "qr", "--ssid", "HomeNet", "--password-file", box.folder.path("wifi"), "--token", token.token,
                "--hub", token.hub, "--format", view.format, "--out", picture,
            ]
        ).run()
        try #require(made.status == 0, "\(made.errors)")
        let camera = try await box.start(clip: try await Self.film(picture, view.filters, box))
        _ = try hub.device(of: try await waited, camera)
        try await hub.expectPictures(of: "yard", camera)
        for secret in [CameraBox.password, String(token.token.suffix(22))] { #expect(!camera.log.contains(secret)) }
        #expect(await camera.stop() == 0)
        await hub.daemon.stop()
    }

    /// Makes a video of the picture, and returns its path.
    private static func film(_ picture: String, _ filters: String, _ box: CameraBox) async throws -> String {
        let video = box.folder.path("code.mp4")
        let filmed = try await Program.named(
            "ffmpeg",
            [
                "-nostdin", "-v", "error", "-loop", "1", "-framerate", "10", "-i", picture, "-vf",
                filters + "scale=960:960:force_original_aspect_ratio=decrease,pad=1280:960:-1:-1:color=gray",
                "-t", "4", "-c:v", "libx264", "-preset", "veryfast", "-crf", "28", "-g", "20", "-pix_fmt", "yuv420p",
                video,
            ]
        ).run()
        try #require(filmed.status == 0, "\(filmed.errors)")
        return video
    }

    @Test("`net add` shows a QR code and waits for the camera")
    func oneCommandByCode() async throws {
        let hub = try await ProvisioningHub()
        let box = try CameraBox(ways: "qr")
        let picture = box.folder.path("code.png")
        async let added = hub.daemon.iotctl(
            "net", "add", "--way", "qr", "--ssid", "HomeNet", "--password-file", box.folder.path("wifi"), "--out",
            picture, "--timeout", "60s", "--json")
        try await eventually("the code") {
            FileManager.default.contents(atPath: picture)?.suffix(8).starts(with: Data("IEND".utf8)) == true
        }
        let camera = try await box.start(clip: try await Self.film(picture, "", box))
        _ = try hub.device(of: try await added, camera)
        #expect(await camera.stop() == 0)
        await hub.daemon.stop()
    }

    @Test("`net add` finds a camera on a wired network, also if it does not use port 80")
    func oneCommandByCable() async throws {
        let network = try await TestNetwork(hosts: ["hub", "camera"])
        let hub = try await ProvisioningHub(address: network.address("hub"), prefix: network.prefix("hub"))
        let box = try CameraBox(ways: "lan", listen: network.address("camera") + ":8080")
        let camera = try await box.start(prefix: network.prefix("camera"))
        _ = try await box.port(of: camera)
        let added = try await Program(
            path: "/usr/bin/env",
            arguments: network.prefix("hub") + [
                Product.program("iotctl"), "net", "add", "--way", "lan", "--pop-file", box.folder.path("proof"),
                "--timeout", "60s", "--json",
            ],
            environment: ["IOTCTL_SOCKET": hub.daemon.folder.path("socket")]
        ).run()
        _ = try hub.device(of: added, camera)
        try await hub.expectPictures(of: "yard", camera)
        #expect(await camera.stop() == 0)
        await hub.daemon.stop()
    }

    @Test("Over a wired network, the camera is found, is bound at its address, and sends pictures")
    func wired() async throws {
        let network = try await TestNetwork(hosts: ["hub", "camera"])
        let hub = try await ProvisioningHub(address: network.address("hub"), prefix: network.prefix("hub"))
        let box = try CameraBox(ways: "lan", listen: network.address("camera") + ":80")
        let camera = try await box.start(prefix: network.prefix("camera"))
        _ = try await box.port(of: camera)

        let address = network.address("camera")
        var (found, count): ([String: Any], Int) = ([:], 0)
        try await eventually("the new camera is found") {
            let outcome = try await hub.daemon.iotctl("net", "discover", "--timeout", "2s", "--json")
            let report = try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any]
            let devices = report?["devices"] as? [[String: Any]] ?? []
            let rows = devices.filter { $0["name"] as? String == "yard" }
            count = rows.count
            found = rows.first ?? [:]
            return !found.isEmpty
        }
        #expect(found["next"] as? String == "provision", "\(found)")
        #expect(count == 1, "the camera has \(count) rows")
        #expect((found["addresses"] as? [String])?.first == address)

        let token = try await hub.token()
        async let waited = hub.daemon.iotctl("net", "wait", token.id, "--timeout", "60s", "--json")
        let outcome = try await box.provision(
            port: 80, token: token, network: ["--wired", "--host", address], prefix: network.prefix("hub"))
        try #require(outcome.status == 0, "\(outcome.errors)\n\(camera.log)")
        _ = try hub.device(of: try await waited, camera)
        try await hub.expectPictures(of: "yard", camera)
        #expect(await camera.stop() == 0)
        await hub.daemon.stop()
    }

    @Test("`net add` adds a camera in one command, and revokes the token if it fails")
    func oneCommand() async throws {
        let hub = try await ProvisioningHub()
        let box = try CameraBox()
        let camera = try await box.start()
        let port = try await box.port(of: camera)
        func add(_ password: String) async throws -> Program.Outcome {
            try await hub.daemon.iotctl([
                "net", "add", "--way", "ap", "--host", "127.0.0.1", "--port", "\(port)", "--ssid", "HomeNet",
                "--password-file", box.folder.path(password), "--pop-file", box.folder.path("proof"), "--json",
            ])
        }
        try box.write("not the password", "wrong")
        let refused = try await add("wrong")
        #expect(refused.status == 1 && refused.errors.contains("25066"), "\(refused.errors)")
        #expect(try await !hub.daemon.iotctl("token", "list").text.contains("enrol-"))
        _ = try hub.device(of: try await add("wifi"), camera)
        try await hub.expectPictures(of: "yard", camera)
        // The camera itself sent its key, and the hub reports the same key.
        let shown = try await hub.daemon.iotctl("device", "show", "yard", "--json")
        let device = try #require(
            try JSONSerialization.jsonObject(with: shown.output) as? [String: Any], "\(shown.errors)")
        let key = try #require(device["key"] as? [String: Any], "\(device)")
        #expect(key["source"] as? String == "ap" && key["failure"] == nil, "\(key)")
        #expect((key["fingerprint"] as? String)?.hasPrefix("SHA256:") == true)
        #expect(await camera.stop() == 0)
        await hub.daemon.stop()
    }

    @Test("By the plaintext scheme, the camera is bound, and both sides warn")
    func plaintext() async throws {
        let hub = try await ProvisioningHub()
        let box = try CameraBox(ways: "plaintext")
        let camera = try await box.start()
        let port = try await box.port(of: camera)
        #expect(port == 8266)
        let token = try await hub.token()
        async let waited = hub.daemon.iotctl("net", "wait", token.id, "--timeout", "60s", "--json")
        let outcome = try await box.provision(port: port, token: token, secret: ["--plaintext"])
        try #require(outcome.status == 0, "\(outcome.errors)\n\(camera.log)")
        #expect(outcome.errors.contains("warning: --plaintext"), "\(outcome.errors)")
        #expect(camera.log.contains("plaintext provisioning is on"), "\(camera.log)")
        _ = try hub.device(of: try await waited, camera)
        try await hub.expectPictures(of: "yard", camera)
        for secret in [CameraBox.password, String(token.token.suffix(22))] { #expect(!camera.log.contains(secret)) }
        #expect(await camera.stop() == 0)
        await hub.daemon.stop()
    }

    @Test("Each failure prints its number and a remedy, and the next attempt works")
    func failures() async throws {
        let hub = try await ProvisioningHub()
        let box = try CameraBox()
        let camera = try await box.start()
        let port = try await box.port(of: camera)
        func expect(_ number: Int, _ what: String, _ outcome: Program.Outcome) {
            #expect(outcome.status == 1, "\(what): \(outcome.text)")
            #expect(outcome.errors.contains("error \(number) "), "\(what): \(outcome.errors)")
            // The remedy is on the next line.
            #expect(outcome.errors.contains(/error \d+ [^\n]+\n  [^\n]+/), "\(what): \(outcome.errors)")
        }
        let token = try await hub.token()

        expect(25_060, "nobody there", try await box.provision(port: try FreePort.tcp(), token: token))
        try box.write("another", "wrong")
        expect(
            25_062, "wrong proof",
            try await box.provision(port: port, token: token, secret: ["--pop-file", box.folder.path("wrong")]))
        expect(
            25_061, "another security version",
            try await box.provision(
                port: port, token: token,
                secret: ["--user", CameraBox.user, "--user-password-file", box.folder.path("wrong")]))
        try box.write("not the password", "wrong")
        expect(
            25_066, "wrong Wi-Fi password",
            try await box.provision(
                port: port, token: token,
                network: ["--ssid", "HomeNet", "--password-file", box.folder.path("wrong")]))
        expect(
            25_067, "no such network",
            try await box.provision(
                port: port, token: token,
                network: ["--ssid", "Elsewhere", "--password-file", box.folder.path("wifi")]))
        let proxy = try await HalfWay(to: port, requests: 4)
        expect(25_064, "vanishes half-way", try await box.provision(port: proxy.port, token: token))

        let short = try await hub.token(["--ttl", "1s"])
        let over = try await hub.daemon.iotctl("net", "wait", short.id)
        #expect(over.errors.contains("error 21101 "), "\(over.errors)")
        expect(21_101, "expired token", try await box.provision(port: port, token: short))
        var away = token
        away.hub = token.hub.replacingOccurrences(of: ":\(hub.port)", with: ":\(try FreePort.tcp())")
        expect(21_025, "hub unreachable", try await box.provision(port: port, token: away))
        var stranger = token
        stranger.hub = String(token.hub.prefix { $0 != "=" }) + "=" + String(repeating: "A", count: 43)
        expect(25_027, "another hub at the address", try await box.provision(port: port, token: stranger))

        // The failures have not used the token, and the camera still accepts it.
        async let waited = hub.daemon.iotctl("net", "wait", token.id, "--timeout", "60s", "--json")
        let outcome = try await box.provision(port: port, token: token)
        #expect(outcome.status == 0, "\(outcome.errors)\n\(camera.log)")
        _ = try hub.device(of: try await waited, camera)
        #expect(await camera.stop() == 0)
        await hub.daemon.stop()
    }

    @Test("On a box with a hub, a claim with another account's token is refused, and both sides report it")
    func claim() async throws {
        let hub = try await ProvisioningHub(configuration: "api: {listen: '127.0.0.1:0'}\n")
        for command in [
            ["user", "create", "bob"], ["device", "create", "shed", "--owner", "owner"],
        ] {
            let outcome = try await hub.daemon.iotctl(command)
            try #require(outcome.status == 0, "\(outcome.errors)")
        }
        let made = try await hub.daemon.iotctl("token", "create", "--api", "--user", "bob")
        try #require(made.status == 0, "\(made.errors)")
        let box = try CameraBox()
        try box.write(made.text.trimmingCharacters(in: .whitespacesAndNewlines), "bob.token")
        let bob = [
            "--url", try hub.daemon.tcpAPI().origin, "--token-file", box.folder.path("bob.token"),
        ]

        let first = try await box.start()
        let owners = try await hub.token()
        let bound = try await box.provision(port: try await box.port(of: first), token: owners)
        try #require(bound.status == 0, "\(bound.errors)\n\(first.log)")
        let device = try hub.device(of: try await hub.daemon.iotctl("net", "wait", owners.id, "--json"), first)
        #expect(await first.stop() == 0)

        let camera = try await box.start(arguments: ["--provision"])
        let port = try await box.port(of: camera)
        let bobs = try await hub.token(bob)
        let refused = try await box.provision(port: port, token: bobs)
        #expect(refused.status == 1 && refused.errors.contains("error 8023 "), "\(refused.errors)\n\(camera.log)")
        let failed = try await hub.daemon.iotctl(["net", "wait", bobs.id] + bob)
        #expect(failed.status == 1 && failed.errors.contains("error 8023 "), "\(failed.errors)")
        let own = try await box.provision(port: port, token: try await hub.token())
        #expect(own.status == 1 && own.errors.contains("error 8022 "), "\(own.errors)")
        let others = try await box.provision(port: port, token: try await hub.token(["--device", "shed"]))
        #expect(others.status == 1 && others.errors.contains("error 21102 "), "\(others.errors)")

        // After the owner has unbound it, the claim works, and the camera stays the same device.
        let unbound = try await hub.daemon.iotctl("device", "unbind", "yard", "owner")
        #expect(unbound.status == 0, "\(unbound.errors)")
        let again = try await hub.token(bob)
        let taken = try await box.provision(port: port, token: again)
        #expect(taken.status == 0, "\(taken.errors)\n\(camera.log)")
        let waited = try await hub.daemon.iotctl(["net", "wait", again.id, "--json"] + bob)
        #expect(try hub.device(of: waited, camera, user: "bob") == device)
        #expect(await camera.stop() == 0)
        await hub.daemon.stop()
    }

    @Test("The mode ends after its time-out and logs that; a stop does not wait for it")
    func ends() async throws {
        let box = try CameraBox(timeout: "1s")
        let camera = try await box.start()
        _ = try await box.port(of: camera)
        #expect(await camera.ended() == 0)
        #expect(camera.log.contains("the provisioning mode timed out"), "\(camera.log)")
        #expect(camera.log.contains("this box still has no hub"), "\(camera.log)")
        #expect(!FileManager.default.fileExists(atPath: box.folder.path("data/link/endpoint")))

        let another = try CameraBox()
        let waiting = try await another.start()
        _ = try await another.port(of: waiting)
        #expect(await waiting.stop() == 0)
    }
}
