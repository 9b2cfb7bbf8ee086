import Foundation
import Testing

/// A camera's box without a hub, with its secrets in files.
struct CameraBox {
    static let password = "correct horse battery"
    static let proof = "k7Qm-pr00f"
    static let user = "camera"

    let folder: TemporaryFolder
    private let configuration: String
    private let security: Int

    init(
        security: Int = 1, ways: String = "ap", listen: String = "127.0.0.1:0", timeout: String = "2m"
    ) throws {
        folder = try TemporaryFolder()
        self.security = security
        let secret =
            security == 1 ? "  possessionFile: proof\n" : "  user: \(Self.user)\n  passwordFile: proof\n"
        configuration = """
            provisioning:
              ways: [\(ways)]
              listen: \(listen)
            \(secret)\
              applier: dryRun
              dryRunFile: networks
              timeout: \(timeout)

            """
        try write(Self.proof, "proof")
        try write("HomeNet\t\(Self.password)", "networks")
        try write(Self.password, "wifi")
    }

    /// Writes a file that only its owner can read.
    func write(_ text: String, _ name: String) throws {
        let isMade = FileManager.default.createFile(
            atPath: folder.path(name), contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        try #require(isMade)
    }

    func start(
        clip: String = Product.sample("street-h264-aac.mp4"), arguments: [String] = [], prefix: [String] = []
    ) async throws -> RunningDaemon {
        try await RunningDaemon(
            folder: folder, configuration: configuration + "cameras:\n  - name: yard\n    url: \(clip)\n",
            arguments: arguments, prefix: prefix, waitsUntilReady: false)
    }

    /// The port of the provisioning mode, from the log.
    func port(of camera: RunningDaemon) async throws -> Int {
        var port: Int?
        try await eventually("the provisioning mode") {
            port = camera.log.firstMatch(of: /provisioning.port=(\d+)/).flatMap { Int($0.1) }
            return port != nil
        }
        return try #require(port)
    }

    /// Runs `iotctl net ap`, with valid values for omitted parameters.
    func provision(
        port: Int, token: ProvisioningHub.Token, network: [String]? = nil, secret: [String]? = nil,
        prefix: [String] = []
    ) async throws -> Program.Outcome {
        try write(token.token, "token")
        let network = network ?? ["--ssid", "HomeNet", "--password-file", folder.path("wifi")]
        let right =
            security == 1
            ? ["--pop-file", folder.path("proof")]
            : ["--user", Self.user, "--user-password-file", folder.path("proof")]
        let place = network.contains("--host") ? [] : ["--host", "127.0.0.1"]
        return try await Program(
            path: "/usr/bin/env",
            arguments: prefix + [Product.program("iotctl"), "net", "ap", "--port", "\(port)"] + place + network
                + (secret ?? right) + ["--hub", token.hub, "--token-file", folder.path("token")]
        ).run()
    }

    /// The files of the data directory that contain the text.
    func dataFiles(holding text: String) throws -> [String] {
        let found = try #require(FileManager.default.enumerator(atPath: folder.path("data")))
        var files: [String] = []
        for case let name as String in found {
            let data = FileManager.default.contents(atPath: folder.path("data/" + name))
            if data?.range(of: Data(text.utf8)) != nil { files.append(name) }
        }
        return files
    }
}

/// A hub that issues provisioning tokens.
struct ProvisioningHub {
    struct Token: Decodable {
        var id: String
        var token: String
        var hub: String
        var enrolment: String
    }

    let daemon: RunningDaemon
    let port: Int

    init(
        address: String = "127.0.0.1", folder: TemporaryFolder? = nil, configuration: String = "", prefix: [String] = []
    ) async throws {
        port = try FreePort.tcp()
        let names = address == "127.0.0.1" ? "[localhost]" : "[]"
        daemon = try await RunningDaemon(
            folder: folder,
            configuration: "hub: {tls: {listen: '\(address):\(port)', names: \(names)}}\n" + configuration,
            prefix: prefix)
    }

    func token(_ arguments: [String] = []) async throws -> Token {
        let outcome = try await daemon.iotctl(["net", "token", "--json"] + arguments)
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(Token.self, from: outcome.output)
    }

    /// The device's id in the output of `net wait --json`.
    func device(of outcome: Program.Outcome, _ camera: RunningDaemon, user: String = "owner") throws -> String {
        try #require(outcome.status == 0, "\(outcome.errors)\n\(daemon.log)\n\(camera.log)")
        let status = try #require(try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
        let binding = try #require(status["binding"] as? [String: Any])
        #expect(status["phase"] as? String == "online" && status["name"] as? String == "yard", "\(status)")
        #expect(binding["user"] as? String == user && binding["role"] as? String == "owner")
        return try #require(binding["device"] as? String)
    }

    func expectPictures(of name: String, _ camera: RunningDaemon) async throws {
        let monitor = try await daemon.iotctl("monitor", name, "--frames", "5", "--json")
        #expect(monitor.status == 0, "\(monitor.errors)\n\(camera.log)")
        #expect(monitor.text.contains("h264"), "\(monitor.text)")
    }
}

/// A proxy to a port that stops after `requests` connections, as if the camera disappeared.
struct HalfWay {
    private static let program = """
        import socket, sys, threading
        target, count = int(sys.argv[1]), int(sys.argv[2])
        server = socket.create_server(("127.0.0.1", 0))
        print(server.getsockname()[1], flush=True)
        def copy(source, target):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        for _ in range(count):
            client, _ = server.accept()
            camera = socket.create_connection(("127.0.0.1", target))
            back = threading.Thread(target=copy, args=(camera, client))
            back.start()
            copy(client, camera)
            back.join()
        """

    let port: Int
    private let process: BackgroundProgram

    init(to target: Int, requests: Int) async throws {
        let process = try BackgroundProgram(["python3", "-c", Self.program, "\(target)", "\(requests)"])
        var port: Int?
        try await eventually("the proxy") {
            port = Int(process.output.trimmingCharacters(in: .whitespacesAndNewlines))
            return port != nil
        }
        self.port = try #require(port)
        self.process = process
    }
}

enum FreePort {
    /// A TCP port on which nobody listens now.
    static func tcp() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                bind(descriptor, raw, size) == 0 && getsockname(descriptor, raw, &size) == 0
            } ? Int(UInt16(bigEndian: pointer.pointee.sin_port)) : 0
        }
        try #require(port > 0)
        return port
    }
}
