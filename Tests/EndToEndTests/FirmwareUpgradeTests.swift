import Foundation
import Testing

/// A box downloads a release over connections that break, verifies it and hands it over, with real processes.
@Suite(.serialized, .timeLimit(.minutes(3))) struct FirmwareUpgradeTests {
    private static let cameras = ["front": Product.sample("street-h264-aac.mp4")]

    /// Passes TCP connections on to the daemon's socket. The first one gets no more than 200,000 bytes of the answer, the
    /// next two end after as many. Writes how many bytes each connection got.
    private static let proxy = """
        import socket, sys, threading
        target, counts = sys.argv[1], open(sys.argv[2], "a", buffering=1)
        server = socket.create_server(("127.0.0.1", 0))
        print(server.getsockname()[1], flush=True)
        number = 0
        def up(client, upstream):
            while data := client.recv(65536):
                upstream.sendall(data)
        def serve(client, number, limit):
            upstream = socket.socket(socket.AF_UNIX)
            upstream.connect(target)
            threading.Thread(target=up, args=(client, upstream), daemon=True).start()
            sent = 0
            while sent < limit and (data := upstream.recv(min(65536, limit - sent))):
                client.sendall(data)
                sent += len(data)
            if number == 1:
                threading.Event().wait()
            counts.write(f"{sent}\\n")
            client.shutdown(socket.SHUT_RDWR)
            upstream.shutdown(socket.SHUT_RDWR)
        while True:
            client, _ = server.accept()
            number += 1
            threading.Thread(
                target=serve, args=(client, number, 200000 if number <= 3 else 1 << 40), daemon=True).start()
        """

    /// A daemon with a release of 1 MB, and where its files are.
    private struct Site {
        var daemon: RunningDaemon
        let work: TemporaryFolder
        let release: String
        let content: Data
        var directory: String { work.path("upgrade") }
        var key: String { work.path("release.key") }

        func files() -> [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
        }

        /// Starts the daemon again with other keys of `firmware`.
        mutating func restart(_ keys: String) async throws {
            await daemon.stop()
            daemon = try await RunningDaemon(
                cameras: cameras, folder: daemon.folder,
                configuration: "firmware: {directory: \(directory), \(keys)}\n")
        }

        func progress() async throws -> Int? {
            try await daemon.api.read("front", "ProReadonly._otaUpgrade.stVal") as? Int
        }
    }

    private func site() async throws -> Site {
        let work = try TemporaryFolder()
        let daemon = try await RunningDaemon(cameras: Self.cameras)
        let program = Product.program("iotctl")
        let key = work.path("release.key")
        for name in ["release.key", "stranger.key"] {
            _ = try await Program(path: program, arguments: ["firmware", "key", "create", work.path(name)]).run()
        }
        let file = work.path("box.deb")
        let content = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: ($0 &* 7) >> 3) })
        try content.write(to: URL(fileURLWithPath: file))
        let model = try await Program.named("dpkg", ["--print-architecture"]).run().text.dropLast()
        _ = try await Program(
            path: program,
            arguments: [
                "firmware", "sign", file, "--key", key, "--model", "iotvideod-\(model)", "--version", "9.1.0",
            ]
        ).run()
        let added = try await daemon.iotctl("firmware", "release", "add", file)
        try #require(added.status == 0, "\(added.errors)")
        return Site(daemon: daemon, work: work, release: file, content: content)
    }

    @Test("A download that was cancelled, and breaks twice, continues where it was; the release is handed over")
    func broken() async throws {
        var site = try await site()
        let version = try await site.daemon.iotctl("action", "front", "Action._otaVersion", "\"\"")
        #expect(version.status == 0 && version.text == "\"9.1.0\"\n", "\(version.errors)")
        #expect(try await site.daemon.api.read("front", "ProReadonly._otaVersion.stVal") as? String == "9.1.0")
        let refused = try await site.daemon.iotctl("firmware", "front", "--upgrade")
        #expect(refused.status == 1 && refused.errors.hasPrefix("error 20104 "), "\(refused.errors)")

        let token = try await site.daemon.iotctl("token", "create", "--api", "--ttl", "1h")
        let tokenFile = site.work.path("token")
        try token.text.write(toFile: tokenFile, atomically: true, encoding: .utf8)
        chmod(tokenFile, 0o600)
        let counts = site.work.path("counts")
        let proxy = try BackgroundProgram(
            ["python3", "-c", Self.proxy, site.daemon.folder.path("socket"), counts])
        try await eventually("the proxy's port") { proxy.output.contains("\n") }
        let port = proxy.output.prefix { $0 != "\n" }
        try await site.restart(
            "keyFiles: [\(site.key).pub], url: 'http://127.0.0.1:\(port)', tokenFile: \(tokenFile)")
        let started = try await site.daemon.iotctl("firmware", "front", "--upgrade")
        #expect(started.status == 0 && started.text == "the upgrade has begun\n", "\(started.errors)")
        try await eventually("the first bytes") { try await site.progress() ?? 0 >= 10 }
        let cancelled = try await site.daemon.iotctl("firmware", "front", "--cancel")
        #expect(cancelled.status == 0 && cancelled.text == "cancelled\n", "\(cancelled.errors)")
        try await eventually("the end") { try await site.progress() == 0 }
        #expect(site.files() == [".download"])
        let nothing = try await site.daemon.iotctl("firmware", "front", "--cancel")
        #expect(nothing.status == 1, "\(nothing.text)")
        let again = try await site.daemon.iotctl("firmware", "front", "--upgrade")
        #expect(again.status == 0, "\(again.errors)")
        try await eventually("the release", within: .seconds(30)) { try await site.progress() == 95 }
        #expect(site.files() == [".pending", "release", "tried"])
        let bundle = try Data(contentsOf: URL(fileURLWithPath: site.directory + "/release"))
        let manifest = try Data(contentsOf: URL(fileURLWithPath: site.release + ".manifest"))
        let signature = try Data(contentsOf: URL(fileURLWithPath: site.release + ".manifest.sig"))
        #expect(bundle == Data("iotvideod release 1 \(manifest.count)\n".utf8) + manifest + signature + site.content)
        try await unpack(site)
        // Two broken connections, and no byte twice: 1 MB and the heads of three answers.
        let sizes = try String(contentsOfFile: counts, encoding: .utf8).split(separator: "\n").compactMap { Int($0) }
        #expect(sizes.prefix(2) == [200_000, 200_000], "\(sizes)")
        await site.daemon.stop()
    }

    /// The program that installs releases verifies the bundle again.
    private func unpack(_ site: Site) async throws {
        let (bundle, output) = (site.directory + "/release", site.work.path("new.deb"))
        let model = try await Program.named("dpkg", ["--print-architecture"]).run().text.dropLast()
        func unpack(_ key: String, installed: String = "0.1.0") async throws -> Program.Outcome {
            try await Program(
                path: Product.program("iotctl"),
                arguments: [
                    "firmware", "unpack", bundle, "--key", key + ".pub", "--model", "iotvideod-\(model)", "--installed",
                    installed, "--output", output,
                ]
            ).run()
        }
        for (key, version, number) in [
            (site.work.path("stranger.key"), "0.1.0", "25141"), (site.key, "9.1.0", "25144"),
        ] {
            let refused = try await unpack(key, installed: version)
            #expect(refused.status == 1 && refused.errors.hasPrefix("error \(number) "), "\(refused.errors)")
        }
        let good = try await unpack(site.key)
        #expect(good.status == 0, "\(good.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: output)) == site.content)
        try FileManager.default.removeItem(atPath: output)

        // Changed after the download, cut off, and a link to the bundle itself.
        let whole = try Data(contentsOf: URL(fileURLWithPath: bundle))
        var changed = whole
        changed[changed.count - 1] ^= 1
        for (content, number) in [(changed, "25142"), (whole.dropLast(), "25142"), (whole.prefix(100), "25140")] {
            try content.write(to: URL(fileURLWithPath: bundle))
            let refused = try await unpack(site.key)
            #expect(refused.status == 1 && refused.errors.hasPrefix("error \(number) "), "\(refused.errors)")
        }
        try whole.write(to: URL(fileURLWithPath: site.work.path("real")))
        try FileManager.default.removeItem(atPath: bundle)
        try FileManager.default.createSymbolicLink(atPath: bundle, withDestinationPath: site.work.path("real"))
        let link = try await unpack(site.key)
        #expect(link.status == 1 && link.errors.hasPrefix("error 25017 "), "\(link.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: site.work.path)
        #expect(!names.contains { $0.hasPrefix("new.deb") }, "a refused release leaves no file")
    }

    @Test("A release that no trusted key signed is refused with 25141, and nothing is written")
    func stranger() async throws {
        var site = try await site()
        try await site.restart("keyFiles: [\(site.work.path("stranger.key")).pub]")
        let outcome = try await site.daemon.iotctl("firmware", "front", "--upgrade", "--watch", "--timeout", "20s")
        #expect(outcome.status == 1 && outcome.errors.contains("error 25141 "), "\(outcome.errors)")
        #expect(try await site.progress() == 25141)
        #expect(site.files().isEmpty)
        await site.daemon.stop()
    }

    @Test("A hub whose file is not the manifest's is noticed: 25142, and no release is handed over")
    func swapped() async throws {
        var site = try await site()
        let folder = site.daemon.folder.path("data/firmware")
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
        var other = site.content
        other[999_999] ^= 1
        try other.write(to: URL(fileURLWithPath: folder + "/" + name))
        try await site.restart("keyFiles: [\(site.key).pub]")
        let outcome = try await site.daemon.iotctl("firmware", "front", "--upgrade", "--watch", "--timeout", "20s")
        #expect(outcome.status == 1 && outcome.errors.contains("error 25142 "), "\(outcome.errors)")
        #expect(site.files().isEmpty, "the download was removed")
        let cancelled = try await site.daemon.iotctl("firmware", "front", "--cancel")
        #expect(cancelled.status == 1 && cancelled.errors.hasPrefix("error 20145 "), "\(cancelled.errors)")
        await site.daemon.stop()
    }

    @Test("A killed daemon continues the download, and publishes what the program that installs it reports")
    func killed() async throws {
        var site = try await site()
        try FileManager.default.createDirectory(
            atPath: site.directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let manifest = try Data(contentsOf: URL(fileURLWithPath: site.release + ".manifest"))
        let signature = try Data(contentsOf: URL(fileURLWithPath: site.release + ".manifest.sig"))
        // What a killed daemon left.
        let part =
            Data("iotvideod release 1 \(manifest.count)\n".utf8) + manifest + signature + site.content.prefix(700_000)
        try part.write(to: URL(fileURLWithPath: site.directory + "/.download"))
        // Another beginning at the hub: only a download that continues is the manifest's file.
        let folder = site.daemon.folder.path("data/firmware")
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
        var other = site.content
        other[0] ^= 1
        try other.write(to: URL(fileURLWithPath: folder + "/" + name))
        try await site.restart("keyFiles: [\(site.key).pub]")
        let started = try await site.daemon.iotctl("firmware", "front", "--upgrade")
        #expect(started.status == 0, "\(started.errors)")
        try await eventually("the release", within: .seconds(30)) { try await site.progress() == 95 }
        let bundle = try Data(contentsOf: URL(fileURLWithPath: site.directory + "/release"))
        #expect(bundle.suffix(1_000_000) == site.content && bundle.count == part.count + 300_000)

        // The program that installs it reports, and the daemon starts again.
        func finish(_ report: String) throws {
            try FileManager.default.removeItem(atPath: site.directory + "/release")
            try report.write(toFile: site.directory + "/report", atomically: true, encoding: .utf8)
            try FileManager.default.removeItem(atPath: site.directory + "/.pending")
        }
        try finish("25150 it did not start\n")
        try await site.restart("keyFiles: [\(site.key).pub]")
        try await eventually("the report") { try await site.progress() == 25150 }
        #expect(site.daemon.log.contains("25150 upgradeRolledBack: it did not start"))

        try site.content.write(to: URL(fileURLWithPath: folder + "/" + name))
        let watch = try BackgroundProgram(
            [Product.program("iotctl"), "firmware", "front", "--upgrade", "--watch"],
            environment: ["IOTCTL_SOCKET": site.daemon.folder.path("socket")])
        try await eventually("the release", within: .seconds(30)) {
            site.files().contains("release") && watch.errors.contains("front: 95 %, installing")
        }
        try finish("100 9.1.0\n")
        try await site.restart("keyFiles: [\(site.key).pub]")
        #expect(await watch.ended() == 0)
        #expect(watch.output == "front: the new version runs\n", "\(watch.errors)")
        await site.daemon.stop()
    }
}
