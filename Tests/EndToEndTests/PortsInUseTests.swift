import Foundation
import Testing

/// For each configured address that another program uses: the message with the key, that program and the remedy.
@Suite(.serialized, .timeLimit(.minutes(2))) struct PortsInUseTests {
    private func refusal(_ configuration: String, in folder: TemporaryFolder) async throws -> Program.Outcome {
        let file = folder.path("iotvideod.yaml")
        try configuration.write(toFile: file, atomically: true, encoding: .utf8)
        return try await Program.named(
            "timeout",
            [
                "30", Product.program("iotvideod"), "--config", file, "--data-dir", folder.path("data"), "--socket",
                folder.path("socket"),
            ]
        ).run()
    }

    @Test("api.listen, media.listen and hub.tls.listen", arguments: ["api.listen", "media.listen", "hub.tls.listen"])
    func port(key: String) async throws {
        let folder = try TemporaryFolder()
        let kind = key == "media.listen" ? "SOCK_DGRAM" : "SOCK_STREAM"
        let holder = try BackgroundProgram([
            "python3", "-u", "-c",
            """
            import socket, time
            s = socket.socket(socket.AF_INET, socket.\(kind))
            s.bind(('127.0.0.1', 0))
            if '\(kind)' == 'SOCK_STREAM': s.listen()
            print(s.getsockname()[1])
            time.sleep(100)
            """,
        ])
        try await eventually("the port") { holder.output.contains("\n") }
        let port = holder.output.trimmingCharacters(in: .newlines)
        let parts = key.split(separator: ".")
        let text =
            parts.dropLast().map { "\($0): {" }.joined() + "listen: '127.0.0.1:\(port)'"
            + String(repeating: "}", count: parts.count - 1)
        let outcome = try await refusal(text + "\n", in: folder)
        #expect(outcome.status == 1, "\(outcome)")
        let transport = key == "media.listen" ? "UDP" : "TCP"
        let message =
            "error 25029 addressInUse: \(key): \(transport) port \(port) of 127.0.0.1 is in use by python3, process "
            + "\(holder.processIdentifier)\n  remedy: stop that program, or set \(key) to another port\n"
        #expect(outcome.errors.hasSuffix(message), "\(outcome.errors)")
    }

    @Test("The API's socket, where another daemon answers")
    func socket() async throws {
        let daemon = try await RunningDaemon()
        let folder = try TemporaryFolder()
        let outcome = try await Program.named(
            "timeout",
            [
                "30", Product.program("iotvideod"), "--data-dir", folder.path("data"), "--socket",
                daemon.folder.path("socket"),
            ]
        ).run()
        let message =
            "error 25006 alreadyRunning: socket: iotvideod, process \(daemon.processIdentifier), already answers on "
            + daemon.folder.path("socket")
        #expect(outcome.status == 1 && outcome.errors.contains(message), "\(outcome.errors)")
        await daemon.stop()
    }
}
