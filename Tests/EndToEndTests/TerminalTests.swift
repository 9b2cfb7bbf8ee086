import Foundation
import Testing

/// `iotctl` on a real terminal.
@Suite(.serialized, .timeLimit(.minutes(3))) struct TerminalTests {
    private static let nobody = ["IOTCTL_SOCKET": "/nonexistent/socket"]

    @Test(
        "A signal ends a password prompt at once, and the terminal echoes again",
        arguments: [("\u{3}", "", 130), ("", "SIGTERM", 143), ("", "SIGINT", 130), ("\u{1C}", "", 131)])
    func interruptedPassword(key: String, signal: String, status: Int32) async throws {
        let outcome = try await Terminal(environment: Self.nobody).iotctl(
            "camera", "add", "door", "rtsp://192.0.2.7/", "--username", "a", "--password-file", "-",
            steps: [.expect("password: "), .echo(false), key.isEmpty ? .signal(signal) : .type("sec" + key)])
        #expect(outcome.status == status, "\(outcome)")
        #expect(outcome.echo)
        #expect(!outcome.output.contains("sec"), "\(outcome.output)")
    }

    @Test("A password is taken without echo")
    func password() async throws {
        let folder = try TemporaryFolder()
        let outcome = try await Terminal(environment: Self.nobody).iotctl(
            "net", "qr", "--ssid", "HomeNet", "--password-file", "-", "--format", "wifi", "--json", "--out",
            folder.path("qr.png"),
            steps: [.expect("password: "), .echo(false), .type("long enough\n")])
        #expect(outcome.status == 0 && outcome.echo, "\(outcome)")
        #expect(outcome.output.contains("P:long enough;") && !outcome.output.hasPrefix("password: long"), "\(outcome)")
    }

    @Test("A stopped password prompt leaves the terminal echoing, and asks again when it is resumed")
    func stopped() async throws {
        let outcome = try await Terminal(environment: Self.nobody).iotctl(
            "net", "qr", "--ssid", "HomeNet", "--password-file", "-", "--out", "/dev/null",
            steps: [
                .expect("password: "), .echo(false), .signal("SIGTSTP"), .echo(true), .signal("SIGCONT"),
                .expect("password: "), .echo(false), .type("\u{3}"),
            ])
        #expect(outcome.status == 130 && outcome.echo, "\(outcome)")
    }

    @Test("On a terminal a removal asks: no and Ctrl-C keep the camera, yes removes it")
    func confirmation() async throws {
        let daemon = try await RunningDaemon()
        let clip = Product.sample("street-h265-aac.mp4")
        #expect(try await daemon.iotctl("camera", "add", "yard", clip).status == 0)
        for (answer, status) in [("n\n", Int32(1)), ("\n", 1), ("\u{4}", 1), ("\u{3}", 130)] {
            let kept = try await daemon.terminal().iotctl(
                "camera", "remove", "yard",
                steps: [.expect("Remove the camera 'yard'? [y/N] "), .type(answer)])
            #expect(kept.status == status, "\(kept)")
            #expect(try await daemon.iotctl("camera", "list").text.contains("yard"))
        }
        let removed = try await daemon.terminal().iotctl(
            "camera", "remove", "yard", steps: [.expect("[y/N] "), .type("y\n")])
        #expect(removed.status == 0 && removed.output.contains("removed yard"), "\(removed)")
        await daemon.stop()
    }

    @Test("In a script, removals need --yes, and the error says that")
    func unconfirmed() async throws {
        let daemon = try await RunningDaemon()
        for arguments in [
            ["camera", "remove", "x"], ["device", "remove", "x"], ["user", "remove", "x"], ["token", "revoke", "x"],
            ["event", "delete", "1"],
        ] {
            let refused = try await daemon.iotctl(arguments, input: "y\n")
            #expect(refused.status == 1 && refused.errors.contains("add --yes"), "\(refused.errors)")
        }
        #expect(try await daemon.iotctl("user", "create", "bob").status == 0)
        #expect(try await daemon.iotctl("user", "remove", "bob", "--yes").text == "removed bob\n")
        await daemon.stop()
    }

    @Test("A table is as wide as the terminal, with complete ids; in a pipe nothing is cut")
    func width() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": Product.sample("street-h265-aac.mp4")])
        let shown = try await daemon.terminal(columns: 70).iotctl("device", "list")
        let lines = shown.output.split(whereSeparator: \.isNewline)
        #expect(lines.count == 2 && lines.allSatisfy { $0.count <= 70 }, "\(shown.output)")
        #expect(lines.last?.contains(#/^[0-9a-f]{32}  front /#) == true && shown.output.contains("…"))
        #expect(try await daemon.iotctl("device", "list").text.contains("view, talk, playback, control, configure"))
        await daemon.stop()
    }

    @Test("Ctrl-C and SIGTERM end a recording cleanly", arguments: ["\u{3}", ""])
    func interruptedRecording(key: String) async throws {
        let daemon = try await RunningDaemon(cameras: ["front": Product.sample("street-h265-aac.mp4")])
        let file = daemon.folder.path("a.mp4")
        let ended = try await daemon.terminal().iotctl(
            "monitor", "front", "--record", file,
            steps: [.expect(" frames"), key.isEmpty ? .signal("SIGTERM") : .type(key)])
        #expect(ended.status == 0 && ended.output.contains("recording      \(file), "), "\(ended)")
        let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0
        #expect(size > 1000)
        await daemon.stop()
    }

    @Test("Statistics are printed on their own lines, apart from the progress line")
    func statistics() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": Product.sample("street-h265-aac.mp4")])
        let shown = try await daemon.terminal(columns: 200).iotctl(
            "monitor", "front", "--duration", "3s", "--stats")
        #expect(shown.status == 0, "\(shown)")
        let figures = shown.output.split(whereSeparator: \.isNewline).filter { $0.contains(" frames") }
        #expect(figures.count >= 2, "\(shown.output)")
        for line in figures {
            // The part of the line after the last erasure is visible.
            let visible = line.components(separatedBy: "\u{1B}[K").last ?? ""
            #expect(visible.components(separatedBy: "playing").count <= 2, "\(shown.output.debugDescription)")
        }
        await daemon.stop()
    }
}
