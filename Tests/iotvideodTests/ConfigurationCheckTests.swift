import Foundation
import IoTCore
import Testing

@testable import iotvideod

/// The problems that `--check-config` finds on this machine.
@Suite struct ConfigurationCheckTests {
    private func check(
        _ directory: String, hasHub: Bool = true, isJoined: Bool = false, defaults: DefaultPaths? = nil,
        _ change: (inout Configuration) -> Void
    ) -> ConfigurationCheck {
        let defaults = defaults ?? DefaultPaths(environment: [:], isRoot: true)
        var configuration = Configuration(defaults: defaults)
        configuration.dataDirectory = directory + "/data"
        configuration.socket = directory + "/socket"
        change(&configuration)
        return ConfigurationCheck(configuration, hasHub: hasHub, isJoined: isJoined, defaults: defaults)
    }

    @Test("All problems that prevent a start are reported at once, with key and reason")
    func errors() async throws {
        try await withTemporaryDirectory { directory in
            try Data().write(to: URL(fileURLWithPath: directory + "/file"))
            let found = check(directory) {
                $0.hub.mosquitto = "/nonexistent/mosquitto"
                $0.dataDirectory = directory + "/no/data"
                $0.socket = directory + "/no/such/socket"
                $0.media.listen = ListenAddress(host: "192.0.2.9", port: 0)
            }
            #expect(found.errors.map(\.key) == ["hub.mosquitto", "dataDirectory", "socket", "media.listen"])
            #expect(found.errors.first?.reason.contains("there is no program at /nonexistent/mosquitto") == true)
            let error = #expect(throws: IoTError.self) { try found.throwErrors() }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.split(separator: "\n").count == 4)
            for (path, part) in [("/file", "is not a directory"), ("/file/data", "is not a directory")] {
                let found = check(directory) { $0.dataDirectory = directory + path }
                #expect(found.errors.first?.description.contains(part) == true, "\(found.errors)")
            }
            let occupied = check(directory) { $0.socket = directory + "/file" }
            #expect(occupied.errors.first?.key == "socket")
        }
    }

    @Test("Paths that exist or can be created, and keys of a hub that does not run here, are accepted")
    func right() async throws {
        try await withTemporaryDirectory { directory in
            for socket in ["/socket", "/run/socket", "/data/socket"] {
                let found = check(directory) { $0.socket = directory + socket }
                #expect(found.errors.isEmpty, "\(found.errors)")
            }
            for host in ["0.0.0.0", "127.0.0.1", "127.0.0.7"] {
                let found = check(directory) { $0.media.listen = ListenAddress(host: host, port: 0) }
                #expect(found.errors.isEmpty, "\(found.errors)")
            }
            let elsewhere = check(directory, hasHub: false) { $0.hub.mosquitto = "/nonexistent" }
            #expect(elsewhere.errors.isEmpty)
        }
    }

    @Test("A loopback media address with viewers on other machines gives a warning; the default does not")
    func mediaAddress() async throws {
        let loopback = ListenAddress(host: "127.0.0.1", port: 0)
        let everywhere = ListenAddress(host: "0.0.0.0", port: 0)
        try await withTemporaryDirectory { directory in
            var alone = Configuration(defaults: DefaultPaths(environment: [:], isRoot: true))
            #expect(alone.mediaAddress(isJoined: false) == loopback)
            #expect(alone.mediaAddress(isJoined: true) == everywhere)
            alone.hub.tls.listen = ListenAddress(host: "0.0.0.0", port: 8883)
            #expect(alone.mediaAddress(isJoined: false) == everywhere)
            #expect(check(directory) { $0.hub.tls.listen = everywhere }.warnings.isEmpty)
            #expect(check(directory) { $0.media.listen = loopback }.warnings.isEmpty)
            let joined = check(directory, hasHub: false, isJoined: true) { $0.media.listen = loopback }
            #expect(joined.warnings.map(\.key) == ["media.listen"])
            let watched = check(directory) {
                $0.media.listen = loopback
                $0.api.listen = ListenAddress(host: "0.0.0.0", port: 8443)
            }
            #expect(watched.warnings.map(\.key) == ["media.listen"])
            let relayed = check(directory, isJoined: true) {
                $0.media.listen = loopback
                $0.media.iceServers = ["turn:192.0.2.1:3478"]
            }
            #expect(relayed.warnings.isEmpty)
        }
    }

    @Test("Only the default directory is created together with its parents")
    func parents() async throws {
        try await withTemporaryDirectory { directory in
            let defaults = DefaultPaths(environment: ["XDG_STATE_HOME": directory + "/home/state"], isRoot: false)
            let found = check(directory, defaults: defaults) { $0.dataDirectory = defaults.dataDirectory }
            #expect(found.errors.isEmpty, "\(found.errors)")
            try PrivateDirectory.makeRoot(defaults.dataDirectory, defaults: defaults)
            let mode = try FileManager.default.attributesOfItem(atPath: defaults.dataDirectory)[.posixPermissions]
            #expect(mode as? Int == 0o700)
            #expect(throws: IoTError.self) {
                try PrivateDirectory.makeRoot(directory + "/typo/state/iotvideod", defaults: defaults)
            }
            #expect(!FileManager.default.fileExists(atPath: directory + "/typo"))
        }
    }

    @Test("What prevents recording is a warning: a directory without a parent, a floor above the disk, a wrong name")
    func recording() async throws {
        try await withTemporaryDirectory { directory in
            let found = check(directory) {
                $0.recording.directory = directory + "/new"
                $0.recording.freeSpace = 1 << 60
                $0.recording.cameraDirectories = ["yrd": directory + "/none/disk"]
                $0.cameras = [CameraSettings(name: "yard", url: "/dev/null")]
            }
            #expect(found.errors.isEmpty)
            #expect(
                found.warnings.map(\.key) == [
                    "recording.freeSpace", "recording.cameraDirectories, yrd", "recording.cameraDirectories",
                ])
            #expect(found.warnings[1].reason.contains("\(directory)/none;"), "\(found.warnings)")
            #expect(check(directory) { $0.recording.directory = directory + "/new" }.warnings.isEmpty)
        }
    }

    @Test("A camera's missing file is only a warning, because the daemon tries again")
    func sources() async throws {
        try await withTemporaryDirectory { directory in
            let cameras = try ["/nofile", directory, "rtsp://192.0.2.7/x"].enumerated().map {
                CameraSettings(name: "c\($0.offset)", url: try CameraSource($0.element, relativeTo: "/").url)
            }
            let found = check(directory) {
                $0.cameras = cameras
                $0.link.endpoint = .unixSocket("/nonexistent/broker.sock")
            }
            #expect(found.errors.isEmpty)
            #expect(found.warnings.map(\.key) == ["link.endpoint", "camera 'c0', url", "camera 'c1', url"])
            #expect(found.warnings.last?.reason.contains("Is a directory") == true)
        }
    }
}
