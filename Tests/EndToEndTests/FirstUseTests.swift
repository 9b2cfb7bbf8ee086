import Foundation
import Testing

/// `iotctl --url` without `--ca`: a certificate is trusted on first use.
@Suite(.serialized, .timeLimit(.minutes(3))) struct FirstUseTests {
    private static func configuration(port: Int) throws -> String {
        """
        hub: {tls: {listen: "127.0.0.1:\(try RTSPServer.freePort())", names: [127.0.0.1]}}
        api: {listen: "127.0.0.1:\(port)", tls: true}
        """
    }

    /// The arguments that name a daemon, and the environment that its certificates are kept in.
    private struct Client {
        let arguments: [String]
        let environment: [String: String]

        func status() async throws -> Program.Outcome {
            try await Program(
                path: Product.program("iotctl"), arguments: ["status"] + arguments, environment: environment
            ).run()
        }
    }

    private func client(of daemon: RunningDaemon, port: Int) async throws -> Client {
        let token = try await daemon.iotctl("token", "create", "--api")
        let file = daemon.folder.path("api.token")
        try token.output.write(to: URL(fileURLWithPath: file))
        return Client(
            arguments: ["--url", "https://127.0.0.1:\(port)", "--token-file", file],
            environment: ["XDG_STATE_HOME": daemon.folder.path("state"), "IOTCTL_SOCKET": "/nonexistent"])
    }

    private func fingerprint(_ daemon: RunningDaemon) async throws -> String {
        let told = try await Program.named(
            "openssl",
            ["x509", "-noout", "-fingerprint", "-sha256", "-in", daemon.folder.path("data/keys/ca.pem")]
        ).run()
        return try #require(told.text.split(separator: "=").last).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test("A script is refused with a remedy, a terminal asks once, and a renewed certificate stays trusted")
    func firstUse() async throws {
        let port = try RTSPServer.freePort()
        var daemon = try await RunningDaemon(configuration: try Self.configuration(port: port))
        let folder = daemon.folder
        let client = try await client(of: daemon, port: port)
        let fingerprint = try await fingerprint(daemon)

        let refused = try await client.status()
        #expect(refused.status == 1 && refused.errors.hasPrefix("error 25027 certificateRejected: "), "\(refused)")
        #expect(refused.errors.contains(fingerprint) && refused.errors.contains("--ca ca.pem"), "\(refused.errors)")
        #expect(!refused.errors.contains("BoringSSL") && !refused.errors.contains(".cc"), "\(refused.errors)")

        let terminal = Terminal(environment: client.environment, columns: 300)
        let arguments = client.arguments
        let declined = try await terminal.iotctl(
            "status", arguments[0], arguments[1], arguments[2], arguments[3],
            steps: [.expect(fingerprint), .expect("[y/N] "), .type("n\n")])
        #expect(declined.status == 1, "\(declined)")
        let trusted = try await terminal.iotctl(
            "status", arguments[0], arguments[1], arguments[2], arguments[3],
            steps: [.expect(fingerprint), .expect("[y/N] "), .type("y\n")])
        #expect(trusted.status == 0 && trusted.output.contains("online"), "\(trusted)")
        let known = try FileManager.default.attributesOfItem(atPath: folder.path("state/iotctl/known_hosts"))
        #expect(known[.posixPermissions] as? Int == 0o600)
        let again = try await client.status()
        #expect(again.status == 0, "\(again.errors)")

        // The hub makes a new certificate at each start, signed by the same authority.
        await daemon.stop()
        daemon = try await RunningDaemon(folder: folder, configuration: try Self.configuration(port: port))
        let renewed = try await client.status()
        #expect(renewed.status == 0, "\(renewed.errors)")
        await daemon.stop()

        // Another hub at this address.
        let other = try await RunningDaemon(configuration: try Self.configuration(port: port))
        let changed = try await client.status()
        #expect(changed.status == 1 && changed.errors.contains("HAS CHANGED"), "\(changed.errors)")
        let found = try await self.fingerprint(other)
        #expect(changed.errors.contains(fingerprint) && changed.errors.contains(found), "\(changed.errors)")
        await other.stop()
    }

    @Test("With the packaged configuration and `api.listen` the certificate is the box's own and contains its name")
    func packagedConfiguration() async throws {
        let port = try RTSPServer.freePort()
        let packaged = try String(
            contentsOf: Product.root.appendingPathComponent("packaging/iotvideod.yaml"), encoding: .utf8)
        let line = "# api:\n#   listen: 0.0.0.0:8443\n"
        try #require(packaged.contains(line))
        let configuration = packaged.replacingOccurrences(of: line, with: "api:\n  listen: 0.0.0.0:\(port)\n")
        let daemon = try await RunningDaemon(configuration: configuration)
        let file = daemon.folder.path("iotvideod.yaml")
        let check = try await Program(
            path: Product.program("iotvideod"), arguments: ["--config", file, "--check-config"]
        ).run()
        #expect(check.status == 0, "\(check.errors)")

        let client = try await client(of: daemon, port: port)
        let fingerprint = try await fingerprint(daemon)
        let refused = try await client.status()
        #expect(refused.errors.contains(fingerprint), "\(refused.errors)")
        #expect(daemon.log.contains("SHA256 \(fingerprint)"), "\(daemon.log)")
        let authority = daemon.folder.path("data/keys/ca.pem")
        let told = try await Client(
            arguments: client.arguments + ["--ca", authority], environment: client.environment
        ).status()
        #expect(told.status == 0, "\(told.errors)")
        // curl checks the name in the certificate; the API answers to the machine's own name.
        let name = ProcessInfo.processInfo.hostName.lowercased()
        for host in ["127.0.0.1", "localhost", name] {
            let answer = try await Program.named(
                "curl",
                [
                    "-sS", "--cacert", authority, "--resolve", "\(host):\(port):127.0.0.1",
                    "https://\(host):\(port)/healthz",
                ]
            ).run()
            #expect(answer.text == #"{"status":"ok"}"#, "\(host): \(answer.errors)\(answer.text)")
        }
        await daemon.stop()
    }

    @Test("With --ca nothing is asked; another authority's file is refused with a clear message")
    func authorityFile() async throws {
        let port = try RTSPServer.freePort()
        let daemon = try await RunningDaemon(configuration: try Self.configuration(port: port))
        let client = try await client(of: daemon, port: port)
        let right = Client(
            arguments: client.arguments + ["--ca", daemon.folder.path("data/keys/ca.pem")],
            environment: client.environment)
        #expect(try await right.status().status == 0)
        let folder = try TemporaryFolder()
        let wrong = folder.path("other.pem")
        let made = try await Program.named(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=x",
                "-keyout", "/dev/null", "-out", wrong,
            ]
        ).run()
        try #require(made.status == 0, "\(made.errors)")
        let refused = try await Client(
            arguments: client.arguments + ["--ca", wrong], environment: client.environment
        ).status()
        #expect(refused.status == 1 && refused.errors.contains("certificateRejected"), "\(refused.errors)")
        #expect(refused.errors.contains("keys/ca.pem") && !refused.errors.contains(".cc"), "\(refused.errors)")
        await daemon.stop()
    }
}
