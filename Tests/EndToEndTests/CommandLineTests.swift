import Foundation
import Testing

/// The command line as a user at a shell sees it.
@Suite(.serialized, .timeLimit(.minutes(3))) struct CommandLineTests {
    @Test("Wrong usage exits with 2, no daemon with 3, a refused request with 1, each with number, name and remedy")
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

    @Test("The daemon's exit status is 2 for wrong usage, 1 for a wrong configuration and 0 for help")
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

    @Test("--check-config reports what is missing on this machine, and what the daemon would wait for")
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
        #expect(late.status == 0 && late.text.contains("valid: 1 camera\n"), "\(late.text)")
        #expect(late.errors.hasPrefix("warning camera 'x', url: /nofile: No such file"), "\(late.errors)")
    }

    @Test("A property is written, read and watched; a wrong write is refused")
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
            ("ProWritable._logLevel.setVal", #""loud""#, 20102), ("ProWritable._logLevel.setVal", "99", 20102),
            ("ProReadonly.viewers.stVal", "3", 20101), ("ProWritable.nothing.setVal", "3", 20101),
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

    @Test("Options before the command, --version, ls, and suggestions for misspelt words work as users expect")
    func habits() async throws {
        let daemon = try await RunningDaemon()
        let status = try await daemon.iotctl("--json", "status")
        #expect(try JSONSerialization.jsonObject(with: status.output) is [String: Any], "\(status.errors)")
        let other = try await Program(
            path: Product.program("iotctl"), arguments: ["--socket", daemon.folder.path("socket"), "device", "ls"]
        ).run()
        #expect(other.status == 0 && other.text.hasPrefix("ID "), "\(other.errors)")
        let version = try await daemon.iotctl("--version").text
        for arguments in [["version"], ["-v"]] { #expect(try await daemon.iotctl(arguments).text == version) }
        for (arguments, meant) in [
            (["statu"], "status"), (["device", "lsit"], "list"), (["status", "--jsn"], "--json"),
        ] {
            let wrong = try await daemon.iotctl(arguments)
            #expect(wrong.status == 2 && wrong.errors.lowercased().contains("did you mean '\(meant)'?"), "\(wrong)")
        }
        await daemon.stop()
    }

    @Test("A wrong value is reported with the option's name, before the daemon is asked")
    func wrongValues() async throws {
        for (arguments, words) in [
            (["camera", "add", "x", "rtsp://u:p@192.0.2.7/"], "--password-file"),
            (["device", "share", "front", "--ttl", "30d"], "--ttl must be at most 7d"),
            (["user", "temporary", "front", "--ttl", "1s"], "--ttl must be from 1m to 7d"),
            (["token", "create", "--enrol", "--ttl", "2h"], "--ttl must be at most 1h with --enrol"),
            (["device", "share", "front", "--ttl", "x"], "a time is a number with a unit"),
        ] {
            let wrong = try await Program(
                path: Product.program("iotctl"), arguments: arguments, environment: ["IOTCTL_SOCKET": "/nonexistent"]
            ).run()
            #expect(wrong.status == 2 && wrong.errors.contains(words), "\(wrong.errors)")
        }
        let missing = try await Program(
            path: Product.program("iotctl"), arguments: ["device", "subscribe", "/nonexistent"]
        ).run()
        #expect(missing.errors.contains("/nonexistent cannot be read: No such file or directory\n"), "\(missing)")
    }

    @Test("With --json a failure is one JSON object on standard error, whatever failed")
    func failuresAsJSON() async throws {
        let daemon = try await RunningDaemon()
        for (arguments, code, status) in [
            (["device", "show", "nobody", "--json"], 8002, Int32(1)), (["--json", "statu"], 21031, 2),
            (["--json", "property", "write", "a", "b", "c"], 21031, 2),
            (["--json", "--socket", "/nonexistent", "status"], 25015, 3),
            (["--json", "camera", "remove", "x"], 21031, 1),
        ] {
            let failed = try await daemon.iotctl(arguments)
            #expect(failed.status == status && failed.output.isEmpty, "\(failed)")
            let object = try JSONSerialization.jsonObject(with: Data(failed.errors.utf8)) as? [String: Any]
            #expect(object?["code"] as? Int == code, "\(failed.errors)")
            #expect(Set(object?.keys.map { $0 } ?? []) == ["code", "name", "message", "remedy"])
        }
        await daemon.stop()
    }

    @Test("Output that cannot be written is a failure; a closed pipe ends the program silently, by SIGPIPE")
    func unwritableOutput() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": Product.sample("street-h265-aac.mp4")])
        let environment = ["IOTCTL_SOCKET": daemon.folder.path("socket"), "IOTCTL": Product.program("iotctl")]
        func shell(_ line: String) async throws -> Program.Outcome {
            var program = Program.named("bash", ["-c", line])
            program.environment = environment
            return try await program.run()
        }
        for command in ["status", "--help", "device list --json", "monitor front --frames 5 --record -"] {
            let full = try await shell("$IOTCTL \(command) > /dev/full")
            #expect(full.status == 1 && full.errors.contains("standard output cannot be written: No space"), "\(full)")
        }
        let record = try await daemon.iotctl("monitor", "front", "--frames", "5", "--record", "/dev/full")
        #expect(record.status == 1 && record.errors.contains("/dev/full cannot be written"), "\(record)")
        let closed = try await shell("$IOTCTL device list | true; echo ${PIPESTATUS[0]}")
        #expect(["141\n", "0\n"].contains(closed.text) && closed.errors.isEmpty, "\(closed)")
        let pipe = try await shell("{ sleep 0.2; $IOTCTL device list; echo $? >&2; } | true")
        #expect(pipe.errors == "141\n", "\(pipe)")
        await daemon.stop()
    }

    @Test("property write --wait ends when the device has applied it, or with 21002 and the value kept")
    func waitForProperty() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": Product.sample("street-h265-aac.mp4")])
        let path = "ProWritable._logLevel.setVal"
        let applied = try await daemon.iotctl("property", "write", "front", path, "4", "--wait")
        #expect(applied.status == 0 && !applied.text.contains("pending"), "\(applied)")
        let detail = try await daemon.iotctl("device", "show", "front", "--json")
        let shown = try JSONSerialization.jsonObject(with: detail.output) as? [String: Any]
        #expect((shown?["pending"] as? [String])?.contains("ProWritable._logLevel") == false, "\(detail.text)")
        // A device whose camera does not run applies nothing.
        let clip = Product.sample("street-h265-aac.mp4")
        #expect(try await daemon.iotctl("camera", "add", "yard", clip).status == 0)
        try await eventually("the device's model") {
            try await daemon.iotctl("property", "read", "yard", path).status == 0
        }
        #expect(try await daemon.iotctl("camera", "remove", "yard", "--yes").status == 0)
        let late = try await daemon.iotctl(
            "property", "write", "yard", path, "5", "--wait", "--timeout", "500ms")
        #expect(late.status == 1 && late.errors.hasPrefix("error 21002 "), "\(late)")
        #expect(try await daemon.iotctl("property", "read", "yard", path).text == "5\n")
        await daemon.stop()
    }

    @Test("Events show the devices' names, and their JSON the ids")
    func eventNames() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": Product.sample("street-h265-aac.mp4")])
        try await eventually("an event") {
            try await daemon.iotctl("event", "list").text.contains(#/ front +EVENT_CAM\/SourceReady/#)
        }
        #expect(try await daemon.iotctl("event", "list", "--json").text.contains(#/"device": "[0-9a-f]{32}"/#))
        await daemon.stop()
    }

    @Test("A shell completes the names that the daemon knows, and nothing without a daemon")
    func completion() async throws {
        let daemon = try await RunningDaemon(cameras: [
            "front": Product.sample("street-h265-aac.mp4"), "yard": Product.sample("street-h265-aac.mp4"),
        ])
        for (command, argument) in [(["device", "show"], "positional@0"), (["camera", "remove"], "positional@0")] {
            let asked = try await daemon.iotctl(
                ["---completion"] + command + ["--", argument, "2", "2", "iotctl"] + command + ["fr"])
            #expect(asked.text.split(separator: "\n") == ["front"], "\(asked)")
        }
        let away = try await daemon.iotctl(
            ["---completion", "device", "show", "--", "positional@0", "4", "0", "iotctl", "--socket", "/nonexistent"]
                + ["device", "show", ""])
        #expect(away.status == 0 && away.errors.isEmpty && !away.text.contains("front"), "\(away)")
        await daemon.stop()
    }

    @Test("Without a daemon the error names the socket's path; without permission it names the group that has it")
    func socketSearch() async throws {
        let folder = try TemporaryFolder()
        func run(_ script: String) async throws -> Program.Outcome {
            var program = Program.named("setpriv", ["--reuid", "65534", "--regid", "65534", "--clear-groups"])
            program.arguments += ["bash", "-c", script]
            program.environment = ["IOTCTL_SOCKET": "", "XDG_RUNTIME_DIR": folder.path]
            return try await program.run()
        }
        let iotctl = Product.program("iotctl")
        let nowhere = try await run("exec \(iotctl) status")
        #expect(nowhere.status == 3, "\(nowhere)")
        #expect(
            nowhere.errors.contains("\(folder.path)/iotvideod.sock")
                && nowhere.errors.contains("/run/iotvideod/iotvideod.sock"), "\(nowhere.errors)")
        let closed = try await run("exec \(iotctl) --socket \(folder.path)/below/socket status")
        #expect(closed.status == 3 && closed.errors.contains("this user may not open"), "\(closed.errors)")
        #expect(closed.errors.contains("as the user who runs the daemon"), "\(closed.errors)")
        // 4 is Debian's group adm.
        try #require(try await Program.named("chgrp", ["4", folder.path]).run().status == 0)
        let group = try await run("exec \(iotctl) --socket \(folder.path)/below/socket status")
        #expect(group.errors.contains("the group 'adm'") && group.errors.contains("adduser nobody adm"), "\(group)")
    }

    @Test("The status shows the link's state with its cause, and the command that restores it")
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

    @Test("The remedy of a refusal fits the request, and is printed once")
    func remedies() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": Product.sample("street-h265-aac.mp4")])
        for (arguments, code, remedy) in [
            (["camera", "remove", "front", "--yes"], 21040, "from the command line"),
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

    @Test("A second daemon in the same directory is refused, and one starts after a killed one")
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
