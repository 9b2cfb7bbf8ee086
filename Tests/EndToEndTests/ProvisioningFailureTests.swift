import Foundation
import Testing

/// What a person meets when something goes wrong while a camera is added, and that a second try works. With real
/// processes; the Wi-Fi is a dry run.
@Suite(.timeLimit(.minutes(3))) struct ProvisioningFailureTests {
    @Test("A hub whose disk is full reports 21103 to the person, and the same token works afterwards")
    func fullDisk() async throws {
        let disk = try SmallDisk()
        let hub = try await ProvisioningHub(folder: disk.folder, prefix: disk.prefix)
        let box = try CameraBox()
        let camera = try await box.start()
        let port = try await box.port(of: camera)

        let token = try await hub.token()
        try await disk.fill(of: hub.daemon)
        let refused = try await box.provision(port: port, token: token)
        #expect(refused.status == 1, "\(refused.text)")
        #expect(
            refused.errors.contains(/error 21103 [^\n]+disk is full[^\n]+\n  read the hub's log/),
            "\(refused.errors)\n\(camera.log)")
        disk.empty(of: hub.daemon)
        let bound = try await box.provision(port: port, token: token)
        try #require(bound.status == 0, "\(bound.errors)\n\(camera.log)\n\(hub.daemon.log)")
        _ = try hub.device(of: try await hub.daemon.iotctl("net", "wait", token.id, "--json"), camera)
        #expect(await camera.stop() == 0)
        await hub.daemon.stop()
    }

    @Test("Ctrl-C ends `net add` and `net wait` at any step, `net add` revokes its token, and the next attempt works")
    func interrupted() async throws {
        let hub = try await ProvisioningHub()
        let box = try CameraBox()
        let camera = try await box.start()
        let port = try await box.port(of: camera)
        let wifi = ["--ssid", "HomeNet", "--password-file", box.folder.path("wifi")]
        func add(_ port: Int, _ steps: Terminal.Step...) async throws -> Terminal.Outcome {
            try await hub.daemon.terminal(columns: 200).iotctl(
                ["net", "add", "--way", "ap", "--host", "127.0.0.1", "--port", "\(port)"] + wifi
                    + ["--pop-file", box.folder.path("proof")], steps: steps)
        }
        func expectInterruption(_ outcome: Terminal.Outcome, _ number: Int32) async throws {
            #expect(outcome.signal == number && outcome.echo, "\(outcome)")
            #expect(!outcome.output.contains("error"), "\(outcome)")
            let tokens = try await hub.daemon.iotctl("token", "list")
            #expect(tokens.status == 0 && !tokens.text.contains("enrol-"), "\(tokens.text)")
        }

        // While the code is shown.
        let shown = try await hub.daemon.terminal(columns: 200).iotctl(
            ["net", "add", "--way", "qr"] + wifi, steps: [.expect("hold this QR code"), .type("\u{3}")])
        try await expectInterruption(shown, SIGINT)
        // While the command cannot reach the camera any more, with an open session.
        let proxy = try await HalfWay(to: port, requests: 3)
        try await expectInterruption(try await add(proxy.port, .expect("trying again"), .signal("SIGTERM")), SIGTERM)
        // A person who waits for a token of their own can wait again.
        let token = try await hub.token()
        let waiting = try await hub.daemon.terminal().iotctl(
            ["net", "wait", token.id], steps: [.expect("waiting for a device"), .type("\u{3}")])
        #expect(waiting.signal == SIGINT && waiting.echo, "\(waiting)")
        #expect(try await hub.daemon.iotctl("token", "revoke", token.id, "--yes").status == 0)

        // The camera has kept nothing of these attempts. Bound, it stays bound, and the command says so.
        let bound = try await add(port, .expect("is bound and comes online"), .type("\u{3}"))
        #expect(bound.output.contains("yard is bound to your account: `iotctl device show "), "\(bound)")
        try await expectInterruption(bound, SIGINT)
        try await eventually("the camera online") {
            try await hub.daemon.iotctl("device", "list").text.contains(#/yard .* yes /#)
        }
        try await hub.expectPictures(of: "yard", camera)
        #expect(await camera.stop() == 0)
        await hub.daemon.stop()
    }

    @Test("Ctrl-C ends `net discover --watch`, and the next search can begin at once")
    func interruptedSearch() async throws {
        let network = try await TestNetwork(hosts: ["hub", "camera"])
        let hub = try await ProvisioningHub(address: network.address("hub"), prefix: network.prefix("hub"))
        let box = try CameraBox(ways: "lan", listen: network.address("camera") + ":8080")
        let camera = try await box.start(prefix: network.prefix("camera"))
        _ = try await box.port(of: camera)
        for signal in [Terminal.Step.type("\u{3}"), .signal("SIGTERM")] {
            let watch = try await hub.daemon.terminal(columns: 200).iotctl(
                ["net", "discover", "--watch", "--timeout", "2s"], steps: [.expect("yard"), signal])
            #expect(watch.signal != nil && watch.echo && !watch.output.contains("error"), "\(watch)")
            let next = try await hub.daemon.iotctl("net", "discover", "--timeout", "2s")
            let place = "--host \(network.address("camera")) --port 8080"
            #expect(next.status == 0 && next.text.contains(place), "\(next)")
        }
        #expect(await camera.stop() == 0)
        await hub.daemon.stop()
    }

    @Test("Where a search cannot find the camera, `net add --way lan` takes its address and port")
    func addressOfWiredCamera() async throws {
        let hub = try await ProvisioningHub()
        // Loopback addresses are not announced.
        let box = try CameraBox(ways: "lan")
        let camera = try await box.start()
        let port = try await box.port(of: camera)
        func add(_ place: String...) async throws -> Program.Outcome {
            try await hub.daemon.iotctl(
                ["net", "add", "--way", "lan", "--pop-file", box.folder.path("proof"), "--json"] + place)
        }
        let searched = try await add()
        #expect(searched.status == 1 && searched.errors.contains("--host"), "\(searched.errors)")
        let joined = try await add("--host", "127.0.0.1:\(port)")
        #expect(joined.status == 2 && joined.errors.contains("--port"), "\(joined.errors)")
        _ = try hub.device(of: try await add("--host", "127.0.0.1", "--port", "\(port)"), camera)
        #expect(await camera.stop() == 0)
        await hub.daemon.stop()
    }

    @Test("A hub without an address for other machines is reported before a camera is asked")
    func localHub() async throws {
        let daemon = try await RunningDaemon()
        let token = try await daemon.iotctl("net", "token")
        #expect(token.status == 0 && token.errors.contains("hub.tls.listen"), "\(token.errors)")
        await daemon.stop()
    }

    @Test("A learned fingerprint that contradicts the hub and its stored key is an error until it is removed")
    func contradiction() async throws {
        let hub = try await ProvisioningHub()
        let box = try CameraBox()
        let camera = try await box.start()
        let token = try await hub.token()
        let bound = try await box.provision(port: try await box.port(of: camera), token: token)
        let right = try #require(bound.text.firstMatch(of: /key +(SHA256:\S+)/)?.1, "\(bound.errors)")
        let waited = try await hub.daemon.iotctl("net", "wait", token.id, "--fingerprint", String(right))
        #expect(waited.status == 0, "\(waited.errors)")
        func key(_ arguments: String...) async throws -> Program.Outcome {
            try await hub.daemon.iotctl(["device", "key", "yard"] + arguments)
        }
        #expect(try await key().text == "\(right) (ap)\n")
        #expect(try await key("--forget").status == 0)
        #expect(try await key().text == "\(right) (hub)\n")

        let wrong = "SHA256:" + String(repeating: "A", count: 43)
        let refused = try await hub.daemon.iotctl("net", "wait", token.id, "--fingerprint", wrong)
        #expect(refused.status == 1 && refused.errors.contains("error 25080 "), "\(refused.errors)")
        for _ in 0..<2 {
            let shown = try await key()
            #expect(shown.status == 1 && shown.errors.contains("error 25080 "), "\(shown.errors)")
            #expect(shown.text == "\(wrong) (ap)\n")
        }
        #expect(try await key("--forget").status == 0)
        #expect(try await key().status == 0)
        #expect(await camera.stop() == 0)
        await hub.daemon.stop()
    }

    @Test("`net wait --fingerprint` fails if the hub reports no key to compare with")
    func nothingToCompare() async throws {
        let hub = try await ProvisioningHub()
        let token = try await hub.token()
        let device = try await KeylessDevice(token: token, hub: hub)
        defer { withExtendedLifetime(device) {} }
        let fingerprint = "SHA256:" + String(repeating: "A", count: 43)
        let waited = try await hub.daemon.iotctl(
            "net", "wait", token.id, "--fingerprint", fingerprint, "--timeout", "3s")
        #expect(waited.status == 1 && waited.errors.contains("error 21002 "), "\(waited.errors)")
        #expect(waited.errors.contains("has not been compared"), "\(waited.errors)")
        let shown = try await hub.daemon.iotctl("device", "key", "yard")
        #expect(shown.text == "\(fingerprint) (ap, not compared: the hub reports no key)\n", "\(shown.errors)")
        await hub.daemon.stop()
    }
}

/// A folder for a daemon whose data directory is on a disk of its own of 16 MiB; needs root. The disk is mounted only for
/// the daemon, and disappears with it.
private struct SmallDisk {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path("data"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    /// For `RunningDaemon(prefix:)`.
    var prefix: [String] {
        let script = "mount -t tmpfs -o size=16m,mode=700 tmpfs \"$0\" && exec \"$@\""
        return ["unshare", "--mount", "sh", "-c", script, folder.path("data")]
    }

    func fill(of daemon: RunningDaemon) async throws {
        let filled = try await Program.named("dd", ["if=/dev/zero", "of=" + filler(of: daemon), "bs=4k"]).run()
        try #require(filled.errors.contains("No space left on device"), "\(filled.errors)")
    }

    func empty(of daemon: RunningDaemon) {
        #expect(unlink(filler(of: daemon)) == 0)
    }

    private func filler(of daemon: RunningDaemon) -> String {
        "/proc/\(daemon.processIdentifier)/root\(folder.path("data/filler"))"
    }
}

/// A device that is bound and online, and never publishes a model, so that the hub has no key of it.
private struct KeylessDevice {
    private static let program = """
        import asyncio, pathlib, sys, types
        box, port, scripts = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
        sys.path.insert(0, scripts)
        from link import Link
        from mqtt import tls
        async def main():
            camera = box / "cameras-joined" / "yard"
            site = types.SimpleNamespace(broker=port, tls=tls(box / "link" / "ca.pem"))
            device = Link(site, "d/" + (camera / "device").read_text().strip(), (camera / "token").read_text().strip())
            await device.open()
            print("online", flush=True)
            await asyncio.Event().wait()
        asyncio.run(main())
        """

    private let folder: TemporaryFolder
    private let process: BackgroundProgram

    init(token: ProvisioningHub.Token, hub: ProvisioningHub) async throws {
        folder = try TemporaryFolder()
        let joined = try await Program(
            path: Product.program("iotvideod"),
            arguments: [
                "--data-dir", folder.path("data"), "--camera", "yard=" + Product.sample("street-h265-aac.mp4"),
                "--join", "-", "--join-only",
            ], input: Data(token.enrolment.utf8)
        ).run()
        try #require(joined.status == 0, "\(joined.errors)")
        let scripts = Product.root.appendingPathComponent("Tests/AttackTests").path
        let process = try BackgroundProgram([
            "python3", "-B", "-c", Self.program, folder.path("data"), "\(hub.port)", scripts,
        ])
        try await eventually("the device online") { process.output == "online\n" }
        self.process = process
    }
}
