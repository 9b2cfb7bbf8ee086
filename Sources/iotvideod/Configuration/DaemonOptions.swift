import ArgumentParser
import Foundation
import GatewayAPI
import IoTCore
import Logging

/// The command line of `iotvideod`. Its options override the configuration file.
struct DaemonOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The configuration file (YAML).", valueName: "file"))
    var config: String?

    @Option(name: .long, help: ArgumentHelp("Where the daemon keeps its state.", valueName: "dir"))
    var dataDir: String?

    @Option(name: .long, help: ArgumentHelp("The Unix socket of the HTTP API.", valueName: "path"))
    var socket: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A camera: rtsp://…, v4l2:/dev/…, or a file, played in a loop. May be repeated.", valueName: "name=url"))
    var camera: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Where the HTTP API listens besides its socket, such as 0.0.0.0:8443.", valueName: "host:port"))
    var listen: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Join the hub of this enrolment string (a file, or - for stdin), then run.", valueName: "file"))
    var join: String?

    @Flag(name: .long, help: "With --join: exit when the box has joined.")
    var joinOnly = false

    @Flag(name: .long, help: "Start with the provisioning mode, even if the box already has a hub.")
    var provision = false

    @Option(
        name: .long,
        help: ArgumentHelp("trace, debug, info, notice, warning, error or critical.", valueName: "level"))
    var logLevel: String?

    @Flag(name: .long, help: "Check the configuration and what it needs on this machine, report problems, and exit.")
    var checkConfig = false

    init() {}

    func validate() throws {
        do throws(IoTError) {
            var configuration = Configuration(defaults: DefaultPaths(environment: [:], isRoot: true))
            try apply(to: &configuration)
            guard !joinOnly || join != nil else {
                throw IoTError(.invalidConfiguration, "--join-only: needs --join")
            }
            guard !provision || join == nil else {
                throw IoTError(.invalidConfiguration, "--provision: cannot be combined with --join")
            }
        } catch {
            throw ValidationError(error.messageWithRemedy)
        }
    }

    /// The configuration: the file or the defaults, overridden by this command line, and the cameras that the API
    /// added.
    ///
    /// - Parameter dataDirectory: the data directory of a running daemon, which keeps its added cameras even if the
    ///   file now names another directory.
    /// - Throws: `.fileFailed` or `.invalidConfiguration`.
    func configuration(
        environment: [String: String] = ProcessInfo.processInfo.environment, isRoot: Bool = geteuid() == 0,
        dataDirectory: String? = nil
    ) throws(IoTError) -> Configuration {
        let defaults = DefaultPaths(environment: environment, isRoot: isRoot)
        var configuration: Configuration
        if let config {
            configuration = try Configuration.load(file: config, defaults: defaults, override: apply(to:))
        } else {
            configuration = Configuration(defaults: defaults)
            try apply(to: &configuration)
            if let conflict = configuration.conflicts().first {
                throw IoTError(.invalidConfiguration, "\(conflict.key): \(conflict.reason)")
            }
        }
        guard !provision || configuration.provisioning.isOn else {
            throw IoTError(.invalidConfiguration, "--provision: needs provisioning.ways in the configuration")
        }
        configuration = try configuration.merging(
            AddedCameras(dataDirectory: dataDirectory ?? configuration.dataDirectory))
        try configuration.checkSecrets()
        return configuration
    }

    private func apply(to configuration: inout Configuration) throws(IoTError) {
        let directory = FileManager.default.currentDirectoryPath
        func absolute(_ path: String) -> String { path.isAbsolutePath ? path : directory + "/" + path }
        if let dataDir { configuration.dataDirectory = absolute(dataDir) }
        // Keep a relative socket path relative: the absolute path may be too long.
        if let socket { configuration.socket = try UnixSocketPath(socket).path }
        if let listen {
            guard let address = ListenAddress(listen) else {
                throw IoTError(.invalidConfiguration, "--listen: must be an IP address and a port")
            }
            configuration.api.listen = address
        }
        if let logLevel {
            guard let level = Logger.Level(rawValue: logLevel) else {
                let known = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
                throw IoTError(.invalidConfiguration, "--log-level: must be one of \(known)")
            }
            configuration.log.level = level
        }
        for text in camera {
            let camera = try Self.camera(text, directory: directory)
            guard !configuration.cameras.contains(where: { $0.name == camera.name }) else {
                throw IoTError(.invalidConfiguration, "--camera: '\(camera.name)' is the name of another camera")
            }
            configuration.cameras.append(camera)
        }
    }

    private static func camera(_ text: String, directory: String) throws(IoTError) -> CameraSettings {
        guard let equals = text.firstIndex(of: "=") else {
            throw IoTError(.invalidConfiguration, "--camera: must be NAME=URL, such as front=rtsp://192.0.2.7/stream")
        }
        let source = try CameraSource(String(text[text.index(after: equals)...]), relativeTo: directory)
        let camera = CameraSettings(name: String(text[..<equals]), url: source.url)
        if let problem = camera.refusedValues.first {
            throw IoTError(.invalidConfiguration, "--camera: the \(problem.key.name) \(problem.reason)")
        }
        guard !source.holdsPassword else {
            throw IoTError(.invalidConfiguration, "--camera: \(CameraRequest.passwordInURL)")
        }
        return camera
    }
}
