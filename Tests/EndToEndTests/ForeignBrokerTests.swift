import Foundation
import Testing

/// Another broker on the port of `hub.listen`, which is often Debian's mosquitto service.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ForeignBrokerTests {
    @Test("If another broker has the port, the start fails with its name and a remedy, and nothing connects to it")
    func heldAtStart() async throws {
        let folder = try TemporaryFolder()
        let port = try RTSPServer.freePort()
        let foreign = try await BackgroundProgram.foreignBroker(port: port, in: folder)
        let file = folder.path("hub.yaml")
        try "hub: {listen: '127.0.0.1:\(port)'}\n".write(toFile: file, atomically: true, encoding: .utf8)
        let outcome = try await Program.named(
            "timeout",
            [
                "30", Product.program("iotvideod"), "--config", file, "--data-dir", folder.path("data"), "--socket",
                folder.path("socket"),
            ]
        ).run()
        #expect(outcome.status == 1, "\(outcome)")
        let message =
            "error 25029 addressInUse: hub.listen: TCP port \(port) of 127.0.0.1 is in use by mosquitto, process "
            + "\(foreign.processIdentifier)\n"
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
        #expect(outcome.errors.contains("systemctl disable --now mosquitto"), "\(outcome.errors)")
        #expect(!foreign.errors.contains("New connection"), "\(foreign.errors)")
    }

    @Test("A broker that takes the port while ours restarts gets no connection; ours starts again after it")
    func takenMeanwhile() async throws {
        let folder = try TemporaryFolder()
        let (daemon, foreign) = try await daemonWithoutPort(in: folder)
        let restarts = try await self.broker(of: daemon)["restarts"] as? Int ?? 0
        try await eventually("five more attempts") {
            try await self.broker(of: daemon)["restarts"] as? Int ?? 0 >= restarts + 5
        }
        // One line for the killed broker, one for the port; repetitions are logged after a minute.
        let lines = daemon.log.split(separator: "\n").filter { $0.contains("the broker ended and is started again") }
        #expect(lines.count == 2 && lines.last?.contains("error=25029") == true, "\(lines)")
        #expect(!foreign.errors.contains("New connection"), "\(foreign.errors)")

        // SIGKILL, because a thread of the test may start its children with SIGTERM blocked.
        foreign.send(SIGKILL)
        try await eventually("our broker again") { try await self.broker(of: daemon)["state"] as? String == "running" }
        try await eventually("the camera again") { try await self.isOnline("front", daemon) }
        #expect(await daemon.stop() == 0)
    }

    @Test("A daemon that waits for its port stops within 5 s of a signal")
    func stop() async throws {
        let folder = try TemporaryFolder()
        let (daemon, foreign) = try await daemonWithoutPort(in: folder)
        let clock = ContinuousClock()
        let began = clock.now
        #expect(await daemon.stop() == 0)
        #expect(clock.now - began < .seconds(5))
        withExtendedLifetime(foreign) {}
    }

    /// A daemon whose broker was killed, and the broker that has taken its port.
    private func daemonWithoutPort(
        in folder: TemporaryFolder
    ) async throws -> (daemon: RunningDaemon, foreign: BackgroundProgram) {
        let port = try RTSPServer.freePort()
        let hold = folder.path("hold")
        // A wrapper that can delay the next start of the broker.
        let program = folder.path("mosquitto")
        try "#!/bin/sh\nwhile [ -e \(hold) ]; do sleep 0.05; done\nexec mosquitto \"$@\"\n".write(
            toFile: program, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
        let daemon = try await RunningDaemon(
            cameras: ["front": Product.sample("street-h264-aac.mp4")],
            configuration: "hub: {listen: '127.0.0.1:\(port)', mosquitto: \(program)}\n")
        try await eventually("the camera") { try await self.isOnline("front", daemon) }

        _ = FileManager.default.createFile(atPath: hold, contents: nil)
        let process = try #require(try await broker(of: daemon)["process"] as? Int)
        kill(Int32(process), SIGKILL)
        try await eventually("its end") { try await self.broker(of: daemon)["process"] as? Int != process }
        let foreign = try await BackgroundProgram.foreignBroker(port: port, in: folder)
        try FileManager.default.removeItem(atPath: hold)
        try await eventually("the reason in the status") {
            let reason = try await self.broker(of: daemon)["reason"] as? [String: Any]
            let message = reason?["message"] as? String ?? ""
            return reason?["code"] as? Int == 25029
                && message.hasSuffix("in use by mosquitto, process \(foreign.processIdentifier)")
        }
        return (daemon, foreign)
    }

    private func isOnline(_ device: String, _ daemon: RunningDaemon) async throws -> Bool {
        try await daemon.api.read(device, "ProReadonly._online.stVal") as? Int == 1
    }

    private func broker(of daemon: RunningDaemon) async throws -> [String: Any] {
        try await daemon.api.request("GET", "/v1/status").object["broker"] as? [String: Any] ?? [:]
    }
}
