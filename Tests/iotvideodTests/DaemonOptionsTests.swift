import ArgumentParser
import Foundation
import IoTCore
import Logging
import Testing

@testable import iotvideod

@Suite struct DaemonOptionsTests {
    @Test("The command line overrides the file, and adds cameras to those of the file")
    func precedence() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory + "/c.yaml"
            try "dataDirectory: /a\nlog: {level: debug}\ncameras: [{name: one, url: /1}]\n"
                .write(toFile: file, atomically: true, encoding: .utf8)
            let options = try DaemonOptions.parse([
                "--config", file, "--data-dir", "/b", "--camera", "two=rtsp://h/2", "--camera", "three=/3",
                "--socket", "s",
            ])
            let configuration = try options.configuration(environment: [:], isRoot: true)
            #expect(configuration.dataDirectory == "/b")
            #expect(configuration.log.level == .debug)
            #expect(configuration.socket == "s")
            #expect(configuration.cameras.map(\.name) == ["one", "two", "three"])
        }
    }

    @Test(
        "Invalid options are refused",
        arguments: [
            ["--camera", "front"], ["--camera", "a b=/x"], ["--camera", "a=rtsp://u:p@h/"], ["--camera", "a=exec:x"],
            ["--camera", "a=/x", "--camera", "a=/y"], ["--log-level", "loud"],
            ["--socket", String(repeating: "s", count: 108)], ["--listen", "x"], ["--join-only"],
        ])
    func refusals(arguments: [String]) {
        #expect(throws: (any Error).self) { try DaemonOptions.parse(arguments) }
    }

    @Test("--listen sets api.listen, and combines with the other api keys of the file")
    func listen() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory + "/c.yaml"
            try "api: {names: [box.example]}\n".write(toFile: file, atomically: true, encoding: .utf8)
            let options = try DaemonOptions.parse(["--config", file, "--listen", "[::1]:8080"])
            let configuration = try options.configuration(environment: [:], isRoot: true)
            #expect(configuration.api.listen == ListenAddress(host: "::1", port: 8080))
            #expect(!configuration.api.isEncrypted)
            let alone = try DaemonOptions.parse(["--config", file])
            #expect(throws: IoTError.self) { try alone.configuration(environment: [:], isRoot: true) }
            // For other machines the API is encrypted, with this box's own certificate if none is configured.
            let open = try DaemonOptions.parse(["--listen", "0.0.0.0:8443"])
            #expect(try open.configuration(environment: [:], isRoot: true).api.isEncrypted)
            try "hub: {tls: {listen: '0.0.0.0:8883'}}\n".write(toFile: file, atomically: true, encoding: .utf8)
            let same = try DaemonOptions.parse(["--config", file, "--listen", "192.0.2.1:8883"])
            #expect(throws: IoTError.self) { try same.configuration(environment: [:], isRoot: true) }
        }
    }

    @Test("A secret that others may read prevents the start, and the message names the key")
    func openSecret() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory + "/c.yaml"
            try "cameras: [{name: a, url: 'rtsp://h/', username: u, passwordFile: p}]"
                .write(toFile: file, atomically: true, encoding: .utf8)
            let options = try DaemonOptions.parse(["--config", file])
            #expect(throws: IoTError.self) { try options.configuration(environment: [:], isRoot: true) }

            try "se:cret\n".write(toFile: directory + "/p", atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: directory + "/p")
            let error = #expect(throws: IoTError.self) {
                try options.configuration(environment: [:], isRoot: true)
            }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.hasPrefix("camera 'a', passwordFile: others than its owner") == true)

            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: directory + "/p")
            let camera = try #require(try options.configuration(environment: [:], isRoot: true).cameras.first)
            #expect(try camera.openable().url == "rtsp://u:se%3Acret@h/")
        }
    }

    @Test("A password in a camera's URL needs a private configuration file")
    func passwordInURL() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory + "/c.yaml"
            try "cameras: [{name: a, url: 'rtsp://u:p@h/'}]".write(toFile: file, atomically: true, encoding: .utf8)
            let options = try DaemonOptions.parse(["--config", file])
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
            #expect(throws: IoTError.self) { try options.configuration(environment: [:], isRoot: true) }
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            #expect(try options.configuration(environment: [:], isRoot: true).cameras.count == 1)
        }
    }

    @Test("Default paths follow the XDG base directories; root has the system's paths")
    func defaultPaths() {
        let root = DefaultPaths(environment: ["XDG_STATE_HOME": "/x"], isRoot: true)
        #expect(root.dataDirectory == "/var/lib/iotvideod")
        #expect(root.socket == "/run/iotvideod/iotvideod.sock")
        let user = DefaultPaths(environment: ["HOME": "/home/u", "XDG_RUNTIME_DIR": "/run/user/7"], isRoot: false)
        #expect(user.dataDirectory == "/home/u/.local/state/iotvideod")
        #expect(user.socket == "/run/user/7/iotvideod.sock")
        let bare = DefaultPaths(environment: ["HOME": "/h", "XDG_STATE_HOME": "relative"], isRoot: false)
        #expect(bare.socket == "/h/.local/state/iotvideod/iotvideod.sock")
    }
}
