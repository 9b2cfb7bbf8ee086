import Foundation
import Testing

/// A camera's box and a gateway's box of one hub on one network, and a hub that is stopped.
@Suite(.serialized, .timeLimit(.minutes(3))) struct LANTests {
    private static let rotation = "ProWritable.rotation.setVal"

    private static func join(
        _ hub: RunningDaemon, _ arguments: [String], configuration: String
    ) async throws -> RunningDaemon {
        let outcome = try await hub.iotctl(["token", "create", "--enrol"] + arguments)
        try #require(outcome.status == 0, "\(outcome.errors)")
        let folder = try TemporaryFolder()
        let file = folder.path("enrolment")
        _ = FileManager.default.createFile(
            atPath: file, contents: Data(outcome.output), attributes: [.posixPermissions: 0o600])
        return try await RunningDaemon(
            folder: folder, configuration: configuration, arguments: ["--join", file])
    }

    private static func hold(_ file: String, contains text: String) throws -> Bool {
        try String(contentsOfFile: file, encoding: .utf8).contains(text)
    }

    @Test(
        "Without the hub a gateway on the network reads, writes and watches; what it wrote reaches the hub; others do not"
    )
    func withoutHub() async throws {
        let (hubPort, lanPort) = (try FreePort.tcp(), try FreePort.tcp())
        let hubConfiguration = "hub: {tls: {listen: '127.0.0.1:\(hubPort)', names: [localhost]}}\n"
        let folder = try TemporaryFolder()
        var hub = try await RunningDaemon(folder: folder, configuration: hubConfiguration)
        for command in [
            ["user", "create", "ann"], ["user", "create", "eve"], ["device", "create", "door", "--owner", "owner"],
            [
                "device", "bind", "door", "ann", "--action", "view", "--action", "configure", "--action", "control",
            ],
        ] {
            try #require(try await hub.iotctl(command).status == 0)
        }
        let camera = try await Self.join(
            hub, ["--device", "door"],
            configuration: """
                lan: {listen: '127.0.0.1:\(lanPort)'}
                cameras: [{name: door, url: '\(Product.sample("street-h264-aac.mp4"))'}]

                """)
        let gateway = try await Self.join(hub, ["--user", "ann"], configuration: "log: {level: debug}\n")
        let stranger = try await Self.join(hub, ["--user", "eve"], configuration: "")
        let grants = gateway.folder.path("data/lan_grants.json")
        try await eventually("the grant") { (try? Self.hold(grants, contains: "door")) == true }
        let trust = camera.folder.path("data/cameras/door/lan-trust.json")
        try await eventually("the hub's keys at the camera") { (try? Self.hold(trust, contains: "Ed25519")) == true }

        await hub.stop()
        try await eventually("the gateway offline") { try await gateway.iotctl("status").text.contains("offline") }
        let read = try await gateway.iotctl("property", "read", "door", Self.rotation)
        #expect(read.status == 0 && read.text == "0\n", "\(read.errors)\n\(camera.log)")
        let written = try await gateway.iotctl("property", "write", "door", Self.rotation, "180")
        #expect(written.status == 0, "\(written.errors)")
        #expect(try await gateway.iotctl("property", "read", "door", Self.rotation).text == "180\n")
        let builtIn = try await gateway.iotctl("property", "write", "door", "ProWritable._logLevel.setVal", "4")
        #expect(builtIn.status == 1 && builtIn.errors.contains("error 20105"), "\(builtIn.errors)")
        let action = try await gateway.iotctl("action", "door", "Action.cameraOn", "1")
        #expect(action.status == 0, "\(action.errors)")
        let picture = gateway.folder.path("door.jpg")
        let watched = try await gateway.iotctl("monitor", "door", "--frames", "20", "--snapshot", picture)
        #expect(watched.status == 0, "\(watched.errors)\n\(camera.log)")
        #expect(FileManager.default.fileExists(atPath: picture))

        // The gateway of an account that is not bound has no grant; and with a stolen grant, it has another key.
        #expect((try? Self.hold(stranger.folder.path("data/lan_grants.json"), contains: "door")) != true)
        await stranger.stop()
        try? FileManager.default.removeItem(atPath: stranger.folder.path("data/lan_grants.json"))
        try FileManager.default.copyItem(atPath: grants, toPath: stranger.folder.path("data/lan_grants.json"))
        let known = try String(contentsOfFile: gateway.folder.path("data/known_devices"), encoding: .utf8)
        try known.replacing("ann ", with: "eve ").write(
            toFile: stranger.folder.path("data/known_devices"), atomically: true, encoding: .utf8)
        chmod(stranger.folder.path("data/known_devices"), 0o600)
        let thief = try await RunningDaemon(folder: stranger.folder, configuration: "", waitsUntilReady: false)
        try await eventually("the thief's API") { try await thief.iotctl("status").status == 0 }
        let stolen = try await thief.iotctl("property", "read", "door", Self.rotation)
        #expect(stolen.status == 1 && stolen.errors.contains("error 20010"), "\(stolen.errors)")
        await thief.stop()

        hub = try await RunningDaemon(folder: folder, configuration: hubConfiguration)
        try await eventually("the gateway online", within: .seconds(40)) {
            try await gateway.iotctl("status").text.contains("online (connected)")
        }
        // Asked at the hub, because the camera would answer by itself while it is not back there.
        try await eventually("the written value at the hub", within: .seconds(40)) {
            try await hub.iotctl("property", "read", "door", Self.rotation).text == "180\n"
        }
        #expect(await gateway.stop() == 0)
        #expect(await camera.stop() == 0)
        #expect(await hub.stop() == 0)
    }
}
