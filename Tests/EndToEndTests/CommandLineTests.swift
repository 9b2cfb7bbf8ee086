import Foundation
import Testing

/// What a user at a shell meets.
@Suite(.serialized, .timeLimit(.minutes(3))) struct CommandLineTests {
    @Test("Wrong usage is 2, no daemon is 3, a refused request is 1, each with number, name and remedy")
    func exitStatuses() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": Product.sample("street-h265-aac.mp4")])
        let usage = try await daemon.iotctl("property", "read")
        #expect(usage.status == 2)
        let missing = try await daemon.iotctl("property", "read", "nobody")
        #expect(missing.status == 1)
        #expect(missing.errors.hasPrefix("error 8002 targetNotFound:"), "\(missing.errors)")
        #expect(missing.errors.split(separator: "\n").count == 2)
        let unreachable = try await Program(
            path: Product.program("iotctl"), arguments: ["status"],
            environment: ["IOTCTL_SOCKET": daemon.folder.path("nothing")]
        ).run()
        #expect(unreachable.status == 3)
        #expect(unreachable.errors.contains("25015 daemonUnreachable"))
        await daemon.stop()
    }

    @Test("The daemon's exit status tells wrong usage, 2, from a wrong configuration, 1, and from help, 0")
    func daemonUsage() async throws {
        for arguments in [
            ["--no-such-option"], ["surplus"], ["--log-level", "loud"], ["--camera", "front"],
            ["--camera", "front=http://192.0.2.7/"],
        ] {
            let outcome = try await Program(path: Product.program("iotvideod"), arguments: arguments).run()
            #expect(outcome.status == 2, "\(arguments)")
            #expect(outcome.errors.contains("Usage: iotvideod"), "\(outcome.errors)")
        }
        let missing = try await Program(
            path: Product.program("iotvideod"), arguments: ["--config", "/nonexistent/iotvideod.yaml"]
        ).run()
        #expect(missing.status == 1 && missing.errors.hasPrefix("error 25017 fileFailed: "), "\(missing.errors)")
        for flag in ["--help", "--version"] {
            let outcome = try await Program(path: Product.program("iotvideod"), arguments: [flag]).run()
            #expect(outcome.status == 0 && outcome.errors == "" && !outcome.text.isEmpty, "\(flag)")
        }
    }

    @Test("--check-config tells what is missing on this machine, and what the daemon would wait for")
    func checkConfiguration() async throws {
        let folder = try TemporaryFolder()
        let file = folder.path("c.yaml")
        try "hub: {mosquitto: /nonexistent}\n".write(toFile: file, atomically: true, encoding: .utf8)
        let places = ["--data-dir", folder.path("data"), "--socket", folder.path("socket"), "--check-config"]
        let wrong = try await Program(
            path: Product.program("iotvideod"), arguments: ["--config", file] + places
        ).run()
        #expect(wrong.status == 1 && wrong.errors.contains("hub.mosquitto: there is no program at"), "\(wrong.errors)")
        let late = try await Program(
            path: Product.program("iotvideod"), arguments: ["--camera", "x=/nofile"] + places
        ).run()
        #expect(late.status == 0 && late.text.contains("right: 1 camera\n"), "\(late.text)")
        #expect(late.errors.hasPrefix("warning camera 'x', url: /nofile: No such file"), "\(late.errors)")
    }

    @Test("A property's life: written, read, watched, refused")
    func properties() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": Product.sample("street-h265-aac.mp4")])
        #expect(
            try await daemon.iotctl("property", "write", "front", "ProWritable._logLevel", #"{"setVal":4}"#).status == 0
        )
        let read = try await daemon.iotctl("property", "read", "front", "ProWritable._logLevel.setVal", "--json")
        let answer = try JSONSerialization.jsonObject(with: read.output) as? [String: Any]
        #expect(answer?["value"] as? Int == 4)
        let fromInput = try await daemon.iotctl(
            ["property", "write", "front", "ProWritable._logLevel.setVal", "-"], input: "5\n")
        #expect(fromInput.status == 0, "\(fromInput.errors)")
        #expect(try await daemon.api.read("front", "ProWritable._logLevel.setVal") as? Int == 5)
        for (path, value, code) in [
            ("ProWritable._logLevel.setVal", #""loud""#, 20102), ("ProReadonly.viewers.stVal", "3", 20101),
            ("ProWritable.nothing.setVal", "3", 20101),
        ] {
            let refused = try await daemon.iotctl("property", "write", "front", path, value)
            #expect(refused.status == 1 && refused.errors.hasPrefix("error \(code) "), "\(refused.errors)")
        }
        let reserved = try await daemon.iotctl("user-property", "add", "front", "_mine", "1")
        #expect(reserved.errors.hasPrefix("error 8605 "))
        let unsupported = try await daemon.iotctl("action", "front", "Action._otaUpgrade.ctlVal", "1")
        #expect(unsupported.errors.hasPrefix("error 20104 "), "\(unsupported.errors)")
        await daemon.stop()
    }

    @Test("The status names the link's state with its cause, and the way back")
    func linkCause() async throws {
        let daemon = try await RunningDaemon()
        #expect(try await daemon.iotctl("status").text.contains("online (connected) since "))
        #expect(try await daemon.iotctl("link", "unregister").status == 0)
        let status = try await daemon.iotctl("status").text
        #expect(status.contains("unregistering (unregistered) since ") && status.contains("`iotctl link register`"))
        #expect(try await daemon.iotctl("link", "register").status == 0)
        try await eventually("the link") { try await daemon.iotctl("status").text.contains("online (connected)") }
        await daemon.stop()
    }

    @Test("What is to be done about a refusal fits what was asked, and stands there once")
    func remedies() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": Product.sample("street-h265-aac.mp4")])
        for (arguments, code, remedy) in [
            (["camera", "remove", "front"], 21040, "off the command line"),
            (["device", "bind", "front", "nobody"], 8002, "iotctl user list"),
            (["send", "front", "hello"], 20141, "get_device_st"),
            (["camera", "add", "x", "exec:touch"], 25001, "./NAME"),
            (["user-property", "delete", "front", "room"], 20101, "iotctl property read ID ProUser"),
            (["property", "write", "front", "ProReadonly.cameraOn.stVal", "1"], 20101, "Action.cameraOn.ctlVal"),
            (
                ["property", "write", "front", "ProWritable._logLevel.setVal", "1", "--if-version", "9999"], 25014,
                "repeat"
            ),
        ] {
            let refused = try await daemon.iotctl(arguments)
            let lines = refused.errors.split(separator: "\n")
            #expect(refused.status == 1 && lines.count == 2, "\(refused.errors)")
            #expect(lines.first?.hasPrefix("error \(code) ") == true, "\(refused.errors)")
            #expect(lines.last?.contains(remedy) == true, "\(refused.errors)")
            #expect(refused.errors.components(separatedBy: "again").count <= 2, "\(refused.errors)")
        }
        await daemon.stop()
    }

    @Test("A second daemon in the same directory is refused, and one behind a killed one starts")
    func locked() async throws {
        let daemon = try await RunningDaemon()
        let second = try await Program(
            path: Product.program("iotvideod"),
            arguments: ["--data-dir", daemon.folder.path("data"), "--socket", daemon.folder.path("other")]
        ).run()
        #expect(second.status == 1)
        #expect(second.errors.contains("25006 alreadyRunning"))
        daemon.kill()
        _ = await daemon.ended()
        let third = try await RunningDaemon(folder: daemon.folder)
        #expect(try await third.iotctl("status").status == 0)
        await third.stop()
    }
}
