import ArgumentParser
import Foundation
import GatewayAPI
import IoTCore
import Logging

/// The command line of `iotvideod`; what it sets goes before the configuration file.
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
            "A camera: rtsp://… or a file that is played in a loop. May be repeated.", valueName: "name=url"))
    var camera: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Where the HTTP API listens beside its socket, such as 0.0.0.0:8443.", valueName: "host:port"))
    var listen: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Join the hub of this enrolment string (a file, or - for stdin), then run.", valueName: "file"))
    var join: String?

    @Flag(name: .long, help: "With --join: end when the box has joined.")
    var joinOnly = false

    @Option(
        name: .long,
        help: ArgumentHelp("trace, debug, info, notice, warning, error or critical.", valueName: "level"))
    var logLevel: String?

    @Flag(name: .long, help: "Check the configuration and what it names on this machine, say what is wrong, and end.")
    var checkConfig = false

    init() {}

    func validate() throws {
        do throws(IoTError) {
            var configuration = Configuration(defaults: DefaultPaths(environment: [:], isRoot: true))
            try apply(to: &configuration)
            guard !joinOnly || join != nil else {
                throw IoTError(.invalidConfiguration, "--join-only: needs --join beside it")
            }
        } catch {
            throw ValidationError(error.messageWithRemedy)
        }
    }

    /// The file, or the defaults, with this command line over it, and the cameras that were added by the API.
    ///
    /// - Parameter dataDirectory: of a daemon that runs: its added cameras count, wherever the file points now.
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
        configuration = try configuration.merging(
            AddedCameras(dataDirectory: dataDirectory ?? configuration.dataDirectory))
        try configuration.checkSecrets()
        return configuration
    }

    private func apply(to configuration: inout Configuration) throws(IoTError) {
        let directory = FileManager.default.currentDirectoryPath
        func absolute(_ path: String) -> String { path.hasPrefix("/") ? path : directory + "/" + path }
        if let dataDir { configuration.dataDirectory = absolute(dataDir) }
        // A relative socket path stays one: it may be what makes it short enough.
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
