import ArgumentParser
import Foundation
import GatewayAPI
import IoTCore

/// The program: parses the command line, runs, and turns every failure into a message and an exit status.
@main
enum Entry {
    static func main() async {
        do {
            try await Iotvideod.parse().run()
        } catch {
            exit(report(error))
        }
    }

    /// Prints the failure. Returns the exit status: 0 for success (help was requested), 1 if the daemon failed, 2 for
    /// wrong usage.
    private static func report(_ error: any Error) -> Int32 {
        if let error = error as? IoTError {
            note("error \(error.description)\n  remedy: \(error.remedy)")
            return 1
        }
        let status = Iotvideod.exitCode(for: error)
        let message = Iotvideod.fullMessage(for: error)
        if status == .success {
            print(message)
            return 0
        }
        if !message.isEmpty { note(message) }
        // ArgumentParser's status for wrong usage is EX_USAGE (64).
        return status == .validationFailure ? 2 : 1
    }

    static func note(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}

/// The daemon's command.
struct Iotvideod: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "iotvideod",
        abstract: "A self-hosted IoT camera gateway: hub, cameras and gateway in one daemon.",
        discussion: """
            EXAMPLES
              iotvideod --camera front=/srv/clips/front.mp4
              iotvideod --camera door=rtsp://192.0.2.7/stream1
              iotvideod --config /etc/iotvideod/iotvideod.yaml
              iotvideod --config iotvideod.yaml --check-config
              iotvideod --config yard.yaml --join yard.enrol

            Without a configuration it keeps its state in /var/lib/iotvideod and answers
            on /run/iotvideod/iotvideod.sock (root), or in the user's XDG directories. It
            prints one line when it is ready. On SIGTERM or SIGINT it stops within five
            seconds.
            """,
        version: ProductVersion.current)

    @OptionGroup var options: DaemonOptions

    func run() async throws {
        if options.checkConfig {
            return try check(try options.configuration())
        }
        if let source = options.join {
            umask(0o077)
            let configuration = try options.configuration()
            let joined = try await Joining(dataDirectory: configuration.dataDirectory).join(
                from: source, cameras: configuration.cameras.map(\.name))
            if options.joinOnly {
                let devices = joined.devices.keys.sorted().joined(separator: ", ")
                print(
                    "joined the hub at \(joined.endpoint) (account: \(joined.user?.accessId.rawValue ?? "none"), "
                        + "devices: \(devices.isEmpty ? "none" : devices))")
                return
            }
        }
        try await Daemon(options).run()
    }

    private func check(_ configuration: Configuration) throws {
        // Whether a hub runs here may depend on what this box has joined, and --join may change that.
        let joined = options.join == nil ? try configuration.joinedBox() : nil
        let hasHub = options.join == nil && configuration.hasHub(joined: joined)
        let check = ConfigurationCheck(
            configuration, hasHub: hasHub, isJoined: joined != nil || options.join != nil)
        for warning in check.warnings { Entry.note("warning \(warning)") }
        try check.throwErrors()
        print("the configuration is valid: \(configuration.cameraCount)")
    }
}
