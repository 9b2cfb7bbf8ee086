import Foundation
public import IoTCore

/// Finds the broker's program and its dynamic-security plugin.
public struct BrokerLocator: Sendable {
    public let program: String
    public let plugin: String

    /// - Parameter configured: The program's absolute path; `nil` searches `PATH` and the directories for daemons,
    ///   which `PATH` often lacks.
    /// - Throws: `brokerMissing` with the package to install.
    public init(configured: String?) throws(IoTError) {
        try self.init(configured: configured, searchPath: ProcessInfo.processInfo.environment["PATH"])
    }

    init(configured: String?, searchPath: String?) throws(IoTError) {
        program = try Self.findProgram(configured: configured, searchPath: searchPath)
        plugin = try Self.findPlugin(besides: program)
    }

    private static func findProgram(configured: String?, searchPath: String?) throws(IoTError) -> String {
        if let configured {
            guard FileManager.default.isExecutableFile(atPath: configured) else {
                throw IoTError(
                    .brokerMissing,
                    "there is no program at \(configured)",
                    remedy: "correct the broker's path, or apt-get install mosquitto")
            }
            return configured
        }
        let directories =
            (searchPath ?? "").split(separator: ":").map(String.init).filter { $0.isAbsolutePath }
            + ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin"]
        for directory in directories {
            let path = directory + "/mosquitto"
            if FileManager.default.isExecutableFile(atPath: path) { return path }
        }
        throw IoTError(.brokerMissing)
    }

    /// The plugin is in the library directory. On Debian it is in a sub-directory for the architecture.
    private static func findPlugin(besides program: String) throws(IoTError) -> String {
        let file = "mosquitto_dynamic_security.so"
        let prefix = URL(fileURLWithPath: program).deletingLastPathComponent().deletingLastPathComponent().path
        for root in [prefix + "/lib", prefix + "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"] {
            if FileManager.default.fileExists(atPath: root + "/" + file) { return root + "/" + file }
            let inside = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
            for directory in inside.sorted() where directory.contains("-linux-") {
                let path = "\(root)/\(directory)/\(file)"
                if FileManager.default.fileExists(atPath: path) { return path }
            }
        }
        throw IoTError(
            .brokerMissing,
            "mosquitto's plugin \(file) was not found",
            remedy: "install mosquitto 2.0 or newer: `apt-get install mosquitto`")
    }
}
