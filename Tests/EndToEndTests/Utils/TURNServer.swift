import Foundation
import TestSupport
import Testing

/// A real coturn on one host of a test network, with time-limited credentials. It ends with this object.
final class TURNServer: @unchecked Sendable {
    // `process` is started once and then only ended.
    static let port = 3478
    let secret = "north"
    private let process = Process()

    init(on host: String, of network: TestNetwork, in folder: TemporaryFolder) async throws {
        let address = network.address(host)
        let log = try folder.newFile("turnserver.out")
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            network.prefix(host) + [
                "turnserver", "-n", "--no-tls", "--no-dtls", "--no-cli", "--fingerprint", "--realm", "example.org",
                "--listening-ip", address, "--relay-ip", address, "--listening-port", "\(Self.port)",
                "--min-port", "51000", "--max-port", "51999", "--use-auth-secret", "--static-auth-secret", secret,
                "--log-file", "stdout", "--pidfile", folder.path("turnserver.pid"),
                "--userdb", folder.path("turnserver.db"),
            ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = log
        process.standardError = log
        try process.start()
        try await eventually("the TURN server") {
            try await Program(
                path: "/usr/bin/env",
                arguments: network.prefix(host) + ["bash", "-c", "exec 3<> /dev/tcp/\(address)/\(Self.port)"]
            ).run().status == 0
        }
    }

    deinit {
        // SIGKILL, because coturn ends slowly after SIGTERM and stores nothing.
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
}
