import Foundation
import IoTCore
import Synchronization
import TestSupport

@testable import IoTLink

/// A real mosquitto in its own directory, on a Unix socket and, if `port` is set, on a loopback port.
final class Broker: Sendable {
    let directory: URL
    let port: Int?
    private let process = Mutex<Process?>(nil)

    var endpoint: LinkEndpoint { .unixSocket(path: directory.appendingPathComponent("s").path) }

    init(tokens: [TestToken], port: Int? = nil) throws {
        self.port = port
        // Short: a socket's path has at most 107 bytes.
        directory = URL(fileURLWithPath: "/tmp/iotlink-\(RequestID.random().prefix(12))")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let passwords = directory.appendingPathComponent("passwords")
        try Data().write(to: passwords)
        for token in tokens {
            let passwd = Process()
            passwd.executableURL = URL(fileURLWithPath: "/usr/bin/mosquitto_passwd")
            passwd.arguments = ["-b", passwords.path, token.id, token.text]
            try passwd.start()
            passwd.waitUntilExit()
        }
        var configuration = """
            user \(NSUserName())
            allow_anonymous false
            password_file \(passwords.path)
            listener 0 \(directory.path)/s

            """
        if let port { configuration += "listener \(port) 127.0.0.1\n" }
        try Data(configuration.utf8).write(to: directory.appendingPathComponent("mosquitto.conf"))
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(at: directory)
    }

    /// Returns when mosquitto logs that it is running.
    func start() async throws {
        try? FileManager.default.removeItem(at: directory.appendingPathComponent("s"))
        let broker = Process()
        broker.executableURL = URL(fileURLWithPath: "/usr/sbin/mosquitto")
        broker.arguments = ["-c", directory.appendingPathComponent("mosquitto.conf").path]
        let output = Pipe()
        broker.standardError = output
        broker.standardOutput = FileHandle.nullDevice
        try broker.start()
        process.withLock { $0 = broker }
        let isRunning = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var text = ""
                var isReported = false
                // Reads to the end, so that the broker never blocks on a full pipe.
                while case let data = output.fileHandleForReading.availableData, !data.isEmpty {
                    guard !isReported else { continue }
                    text += String(decoding: data, as: UTF8.self)
                    guard text.contains(" running") else { continue }
                    isReported = true
                    continuation.resume(returning: true)
                }
                if !isReported { continuation.resume(returning: false) }
            }
        }
        guard isRunning else { throw IoTError(.brokerFailed, "mosquitto did not start") }
    }

    /// Kills the broker with SIGKILL, so that it sends nothing and publishes no will.
    func kill() {
        process.withLock { process in
            if let process, process.isRunning {
                Glibc.kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
            }
            process = nil
        }
    }
}

/// A token like the hub's: a JWT with a signature that is not checked here.
struct TestToken: Sendable {
    let id: String
    let text: String

    /// - Parameter life: `iat` and `exp`, s since 1970.
    init(_ id: String, life: Range<Int64>? = nil) {
        self.id = id
        let times = life.map { #","iat":\#($0.lowerBound),"exp":\#($0.upperBound)"# } ?? ""
        let payload = Data(#"{"jti":"\#(id)"\#(times)}"#.utf8).base64EncodedString()
            .replacingOccurrences(of: "=", with: "").replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
        text = "e30.\(payload).c2ln"
    }
}
