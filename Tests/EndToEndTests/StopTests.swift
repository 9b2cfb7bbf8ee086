import Foundation
import Testing

/// In every state the daemon stops cleanly within 5 s of a signal. That is a requirement, so it is measured.
@Suite(.serialized, .timeLimit(.minutes(3))) struct StopTests {
    /// - Parameter signal: SIGTERM, or a terminal's Ctrl-C.
    private func stop(_ daemon: RunningDaemon, _ state: String, by signal: Int32 = SIGTERM) async {
        let clock = ContinuousClock()
        let began = clock.now
        daemon.kill(signal)
        let status = await daemon.ended()
        let took = clock.now - began
        #expect(status == 0, "\(state): \(daemon.log.suffix(2_000))")
        #expect(took < .seconds(5), "\(state): \(took)")
    }

    /// Writes a program that replaces mosquitto.
    private func script(_ text: String, in folder: TemporaryFolder) throws -> String {
        let program = folder.path("mosquitto")
        try "#!/bin/sh\n\(text)\n".write(toFile: program, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
        return program
    }

    @Test("While its broker hangs at the start", arguments: [SIGTERM, SIGINT])
    func brokerHangs(signal: Int32) async throws {
        let folder = try TemporaryFolder()
        let mark = folder.path("started")
        let program = try script("trap '' TERM\ntouch \(mark)\nexec sleep 60", in: folder)
        let daemon = try await RunningDaemon(
            configuration: "hub: {mosquitto: \(program)}\n", waitsUntilReady: false)
        try await eventually("the broker's start") { FileManager.default.fileExists(atPath: mark) }
        await stop(daemon, "broker hangs", by: signal)
    }

    @Test("While its broker keeps dying")
    func brokerDies() async throws {
        let folder = try TemporaryFolder()
        let mark = folder.path("started")
        let program = try script(
            "if [ -e \(mark) ]; then echo 'Error: no luck' >&2; exit 3; fi\ntouch \(mark)\nexec mosquitto \"$@\"",
            in: folder)
        let daemon = try await RunningDaemon(
            cameras: ["front": Product.sample("street-h264-aac.mp4")],
            configuration: "hub: {mosquitto: \(program)}\n")
        func broker() async throws -> [String: Any] {
            try await daemon.api.request("GET", "/v1/status").object["broker"] as? [String: Any] ?? [:]
        }
        kill(Int32(try #require(try await broker()["process"] as? Int)), SIGKILL)
        try await eventually("its reason") {
            let reason = try await broker()["reason"] as? [String: Any]
            return (reason?["message"] as? String)?.hasSuffix("(exit status 3): Error: no luck") == true
        }
        try await eventually("several attempts") { try await broker()["restarts"] as? Int ?? 0 > 4 }
        // Each cause is logged once; repetitions are logged after a minute.
        let lines = daemon.log.split(separator: "\n").filter { $0.contains("the broker ended and is started again") }
        #expect(lines.count == 2 && lines.last?.contains("no luck") == true, "\(lines)")
        let ready = try await daemon.api.request("GET", "/readyz")
        #expect(ready.status == 503 && String(decoding: ready.body, as: UTF8.self).contains("no luck"))
        await stop(daemon, "broker dies")
    }

    @Test("While the hub that it has joined does not answer, from the start or after a while")
    func hubIsSilent() async throws {
        let port = try RTSPServer.freePort()
        let hub = try await RunningDaemon(configuration: "hub: {tls: {listen: '127.0.0.1:\(port)'}}\n")
        let broker = try #require(
            (try await hub.api.request("GET", "/v1/status").object["broker"] as? [String: Any])?["process"] as? Int)
        let folder = try TemporaryFolder()
        let enrolment = try await hub.iotctl("token", "create", "--enrol", "--device", "yard")
        try #require(enrolment.status == 0, "\(enrolment.errors)")
        _ = FileManager.default.createFile(
            atPath: folder.path("yard.enrol"), contents: enrolment.output, attributes: [.posixPermissions: 0o600])
        // The box has its own authority for its API, independent of its hub.
        let configuration = "api: {listen: '127.0.0.1:\(try RTSPServer.freePort())', tls: true}\n"
        let cameras = ["yard": Product.sample("street-h264-aac.mp4")]
        let box = try await RunningDaemon(
            cameras: cameras, folder: folder, configuration: configuration,
            arguments: ["--join", folder.path("yard.enrol")])
        try await eventually("the box online") {
            try await box.api.request("GET", "/v1/status").object["camerasOnline"] as? Int == 1
        }
        let status = try await box.iotctl("status")
        #expect(status.text.contains("hub       on another box, at tls:127.0.0.1:\(port)\n"), "\(status.text)")
        #expect(status.text.contains("cameras   1, 1 online\n"), "\(status.text)")
        #expect(try await box.api.request("GET", "/readyz").status == 200)

        kill(Int32(broker), SIGSTOP)
        await stop(box, "the hub went silent")
        let again = try await RunningDaemon(
            cameras: cameras, folder: folder, configuration: configuration, waitsUntilReady: false)
        try await eventually("its API") { try await again.api.request("GET", "/healthz").status == 200 }
        await stop(again, "the hub is silent")
        kill(Int32(broker), SIGCONT)
        await hub.stop()
    }

    @Test("While cameras' sources do not answer, or do not accept connections")
    func silentSources() async throws {
        let (hanging, absent) = (try SilentServer(answers: true), try SilentServer(answers: false))
        let daemon = try await RunningDaemon(cameras: [
            "hanging": RTSPServer.url(port: hanging.port), "absent": RTSPServer.url(port: absent.port),
        ])
        // Both are dialled at the start.
        let list = try await daemon.iotctl("camera", "list")
        #expect(list.text.components(separatedBy: "connecting").count == 3, "\(list.text)")
        await stop(daemon, "silent sources")
        withExtendedLifetime((hanging, absent)) {}
    }

    @Test("While clients read or stop reading streams, recordings run and a browser calls")
    func clients() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": Product.sample("street-h264-aac.mp4")])
        let folder = daemon.folder
        let socket = folder.path("socket")
        let url = "http://localhost/v1"
        let events = try BackgroundProgram(["curl", "-sN", "--unix-socket", socket, "\(url)/events"])
        let recording = try BackgroundProgram(
            [Product.program("iotctl"), "monitor", "front", "--record", folder.path("a.mp4")],
            environment: ["IOTCTL_SOCKET": socket])
        let channel = try await daemon.api.request(
            "POST", "/v1/channels", body: #"{"device":"front","kind":"monitor"}"#)
        let id = try #require(channel.object["id"] as? String, "\(channel)")
        let reader = try BackgroundProgram([
            "curl", "-sN", "--unix-socket", socket, "-o", folder.path("b.y4m"), "\(url)/channels/\(id)/video.y4m",
        ])
        try await eventually("both are read") {
            ["a.mp4", "b.y4m"].allSatisfy { file in
                let attributes = try? FileManager.default.attributesOfItem(atPath: folder.path(file))
                return (attributes?[.size] as? Int ?? 0) > 0
            }
        }
        reader.send(SIGSTOP)
        let offer = try String(
            contentsOf: Product.root.appendingPathComponent(
                "Tests/PeerTransportTests/Fixtures/chromium-offer-recvonly.sdp"), encoding: .utf8)
        let call = try await daemon.api.request(
            "POST", "/v1/devices/front/whep", body: offer, headers: ["Content-Type: application/sdp"])
        #expect(call.status == 201, "\(String(decoding: call.body, as: UTF8.self))")
        try await eventually("the events") { events.output.contains("open") }
        await stop(daemon, "clients")
        withExtendedLifetime((events, recording)) {}
    }

    @Test("While another program has locked the database, and writes wait")
    func lockedDatabase() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": Product.sample("street-h264-aac.mp4")])
        let locker = try BackgroundProgram([
            "python3", "-u", "-c",
            """
            import sqlite3, time
            c = sqlite3.connect('\(daemon.folder.path("data/hub.sqlite"))', isolation_level=None)
            c.execute('PRAGMA busy_timeout = 10000')
            c.execute('BEGIN EXCLUSIVE')
            print('locked')
            time.sleep(100)
            """,
        ])
        try await eventually("the lock") { locker.output.contains("locked") }
        let write = try BackgroundProgram(
            [Product.program("iotctl"), "property", "write", "front", "ProWritable._logLevel.setVal", "3"],
            environment: ["IOTCTL_SOCKET": daemon.folder.path("socket")])
        // The daemon counts the write while it waits; the count includes this status request.
        try await eventually("the write waits") {
            let shared = try await daemon.api.request("GET", "/v1/status").object["shared"] as? [String: Any]
            return (shared?["requests"] as? [String: Any])?["used"] as? Int ?? 0 > 1
        }
        await stop(daemon, "locked database")
        try await eventually("its answer") { write.errors.contains("error 25009 ") }
        #expect(write.errors.contains("locked"), "\(write.errors)")
    }
}
