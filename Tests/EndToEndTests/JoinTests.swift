import Foundation
import Testing

/// A second box on one machine: `--join` alone. `BoxesTests` tests how two boxes work together.
@Suite(.serialized, .timeLimit(.minutes(3))) struct JoinTests {
    private static let clip = Product.sample("street-h265-aac.mp4")

    private static func hub(names: String = "localhost") async throws -> (RunningDaemon, Int) {
        let port = Int.random(in: 20_000..<30_000)
        let daemon = try await RunningDaemon(
            configuration: "hub: {tls: {listen: '127.0.0.1:\(port)', names: [\(names)]}}\n")
        return (daemon, port)
    }

    /// The string of `iotctl token create --enrol`.
    private static func enrolment(_ hub: RunningDaemon, _ arguments: [String]) async throws -> String {
        let outcome = try await hub.iotctl(["token", "create", "--enrol"] + arguments)
        try #require(outcome.status == 0, "\(outcome.errors)")
        return outcome.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func join(
        _ folder: TemporaryFolder, _ string: String, _ arguments: [String] = []
    ) async throws -> Program.Outcome {
        try await Program(
            path: Product.program("iotvideod"),
            arguments: ["--data-dir", folder.path("data"), "--join", "-", "--join-only"] + arguments,
            input: Data(string.utf8)
        ).run()
    }

    @Test("A box joins with an account and a camera, keeps both in private files, and starts without any link key")
    func wholeBox() async throws {
        let (hub, _) = try await Self.hub()
        for command in [["user", "create", "gate"], ["device", "create", "door", "--owner", "gate"]] {
            let outcome = try await hub.iotctl(command)
            try #require(outcome.status == 0, "\(outcome.errors)")
        }
        let string = try await Self.enrolment(hub, ["--user", "gate", "--device", "door"])
        let folder = try TemporaryFolder()
        let joined = try await Self.join(folder, string)
        try #require(joined.status == 0, "\(joined.errors)\n\(hub.log)")
        for file in [
            "link/endpoint", "link/ca.pem", "link/accessId", "link/token", "cameras-joined/door/device",
            "cameras-joined/door/token",
        ] {
            let mode = try FileManager.default.attributesOfItem(atPath: folder.path("data/" + file))[.posixPermissions]
            #expect(mode as? Int == 0o600, "\(file)")
        }

        let box = try await RunningDaemon(cameras: ["door": Self.clip], folder: folder)
        try await eventually("the box online") {
            try await box.iotctl("status").text.contains("online (connected)")
        }
        try await eventually("its camera online") {
            try await box.iotctl("device", "list").text.contains(#/door .* yes /#)
        }
        let output = try TemporaryFolder()
        let picture = try await box.iotctl("monitor", "door", "--frames", "5", "--snapshot", output.path("s.png"))
        #expect(picture.status == 0, "\(picture.errors)\n\(box.log)")
        // It runs no hub.
        #expect(!FileManager.default.fileExists(atPath: folder.path("data/hub.sqlite")))
        #expect(await box.stop() == 0)

        // The same string again changes nothing here, and is refused elsewhere.
        #expect(try await Self.join(folder, string).status == 0)
        let other = try await Self.join(try TemporaryFolder(), string)
        #expect(other.status == 1)
        #expect(other.errors.contains("error 21101"), "\(other.errors)")
        // A camera without a device of the hub is refused, and so is a directory that contains a hub.
        let wrong = try await Program(
            path: Product.program("iotvideod"),
            arguments: ["--data-dir", folder.path("data"), "--camera", "gate=\(Self.clip)", "--check-config"]
        ).run()
        #expect(wrong.errors.contains("'gate' is not a device of the hub yet"), "\(wrong.errors)")
        let onHub = try await Program(
            path: Product.program("iotvideod"),
            arguments: ["--data-dir", hub.folder.path("data"), "--join", "-", "--join-only"],
            input: Data(try await Self.enrolment(hub, ["--user", "gate"]).utf8)
        ).run()
        #expect(onHub.errors.contains("contains a hub"), "\(onHub.errors)")
        await hub.stop()
    }

    @Test("A camera's box needs no account")
    func cameraOnly() async throws {
        let (hub, _) = try await Self.hub()
        try #require(try await hub.iotctl("device", "create", "door", "--owner", "owner").status == 0)
        let string = try await Self.enrolment(hub, ["--device", "door"])
        let folder = try TemporaryFolder()
        let joined = try await Self.join(folder, string)
        try #require(joined.status == 0, "\(joined.errors)")
        let box = try await RunningDaemon(cameras: ["door": Self.clip], folder: folder)
        try await eventually("the camera online") {
            try await hub.iotctl("device", "list").text.contains(#/door .* yes /#)
        }
        #expect(try await box.iotctl("camera", "list").text.contains("door"))
        #expect(await box.stop() == 0)
        try await eventually("the camera offline") {
            try await hub.iotctl("device", "list").text.contains(#/door .* no: offline /#)
        }
        await hub.stop()
    }

    @Test("A malformed enrolment string, or one with another authority, is refused, and nothing is stored")
    func refused() async throws {
        let (hub, port) = try await Self.hub()
        try #require(try await hub.iotctl("user", "create", "gate").status == 0)
        let string = try await Self.enrolment(hub, ["--user", "gate"])
        let folder = try TemporaryFolder()
        #expect(try await Self.join(folder, "hello").errors.contains("error 21100"))
        let secret = try #require(string.firstMatch(of: #/enrol=([^&]*)/#)).output.1
        let ca = String(repeating: "A", count: 43)
        let stranger = try await Self.join(folder, "iotlink://localhost:\(port)?enrol=\(secret)&ca=\(ca)")
        #expect(stranger.status == 1)
        #expect(stranger.errors.contains("the secret was not sent"), "\(stranger.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("data/link/endpoint")))
        // Therefore the string is still valid.
        #expect(try await Self.join(folder, string).status == 0)
        await hub.stop()
    }
}
