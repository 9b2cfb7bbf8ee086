import Foundation
import Testing

/// A camera of another maker gets its own firmware through its ONVIF service, with real processes.
@Suite(.serialized, .timeLimit(.minutes(2))) struct CameraFirmwareTests {
    /// The camera takes its version from the file, `PYFW VERSION`, and refuses any other file.
    private static let fixture = Product.root.appendingPathComponent("Tests/NetConfigTests/Fixtures/onvif_camera.py")
        .path

    private func camera(_ work: TemporaryFolder) async throws -> (program: BackgroundProgram, port: Int) {
        let pipe = work.path("input")
        let script = """
            mkfifo '\(pipe)'; exec 0<>'\(pipe)'; echo '{"password": "secret"}' >&0; exec python3 '\(Self.fixture)'
            """
        let program = try BackgroundProgram(["bash", "-c", script])
        try await eventually("the camera") { program.output.contains("\n") }
        let port = program.output.drop { !$0.isNumber }.prefix { $0.isNumber }
        return (program, try #require(Int(port), "\(program.output)"))
    }

    /// Adds a signed release to the hub.
    private func release(
        _ version: String, _ content: String, for model: String, _ work: TemporaryFolder, _ daemon: RunningDaemon
    ) async throws {
        let file = work.path("camera-\(version)-\(model.count).bin")
        try (Data(content.utf8) + Data(repeating: 0x5A, count: 300_000)).write(to: URL(fileURLWithPath: file))
        let signed = try await Program(
            path: Product.program("iotctl"),
            arguments: [
                "firmware", "sign", file, "--key", work.path("release.key"), "--model", model, "--version", version,
            ]
        ).run()
        try #require(signed.status == 0, "\(signed.errors)")
        let added = try await daemon.iotctl("firmware", "release", "add", file)
        try #require(added.status == 0, "\(added.errors)")
    }

    @Test("A camera is offered releases for its own model, gets the newest one, and says its new version")
    func upgrade() async throws {
        let work = try TemporaryFolder()
        let (program, port) = try await camera(work)
        _ = try await Program(
            path: Product.program("iotctl"), arguments: ["firmware", "key", "create", work.path("release.key")]
        ).run()
        let password = work.path("password")
        _ = FileManager.default.createFile(
            atPath: password, contents: Data("secret\n".utf8), attributes: [.posixPermissions: 0o600])
        let daemon = try await RunningDaemon(
            folder: TemporaryFolder(),
            configuration: """
                firmware: {directory: \(work.path("upgrade")), keyFiles: [\(work.path("release.key")).pub]}
                cameras:
                  - {name: gate, url: 'rtsp://127.0.0.1:9/x', username: admin, passwordFile: \(password), onvifPort: \(port), firmware: camera}

                """)
        func version() async throws -> String? {
            try await daemon.api.read("gate", "ProConst.firmware.version") as? String
        }
        try await eventually("the camera's version") { try await version() == "1.0.2" }
        #expect(try await daemon.api.read("gate", "ProConst.firmware.model") as? String == "Python PY-1")

        try await release("1.2.0", "PYFW V1.2.0 build 9\n", for: "Python PY-1", work, daemon)
        try await release("9.0.0", "PYFW V9.0.0\n", for: "Python PY-2", work, daemon)
        let upgraded = try await daemon.iotctl("firmware", "gate", "--upgrade", "--watch")
        #expect(upgraded.status == 0, "\(upgraded.errors)\n\(daemon.log)")
        #expect(try await daemon.api.read("gate", "ProReadonly._otaUpgrade.stVal") as? Int == 100)
        #expect(try await version() == "1.2.0")
        let left = try FileManager.default.subpathsOfDirectory(atPath: work.path("upgrade"))
        #expect(left.sorted() == ["camera-gate", "camera-gate/tried"])

        try await release("1.3.0", "something else", for: "Python PY-1", work, daemon)
        let refused = try await daemon.iotctl("firmware", "gate", "--upgrade", "--watch")
        #expect(refused.status == 1 && refused.errors.contains("25011"), "\(refused.errors)\n\(daemon.log)")
        #expect(try await version() == "1.2.0")
        #expect(await daemon.stop() == 0)
        program.send(SIGTERM)
    }
}
