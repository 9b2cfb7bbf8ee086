import ArgumentParser
import Foundation
import GatewayAPI
import IoTCore

/// The daemon's command.
@main
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

            Without a configuration it keeps its state in /var/lib/iotvideod and answers on
            /run/iotvideod/iotvideod.sock (root), or in the user's XDG directories. It prints one
            line when it is ready, and stops in order at SIGTERM or SIGINT.
            """,
        version: ProductVersion.current)

    @OptionGroup var options: DaemonOptions

    func run() async throws {
        do {
            let configuration = try options.configuration()
            if options.checkConfig {
                print("the configuration is right: \(configuration.cameras.count) camera(s)")
                return
            }
            try await Daemon(configuration).run()
        } catch let error as IoTError {
            FileHandle.standardError.write(
                Data("error \(error.description)\n  remedy: \(error.code.remedy)\n".utf8))
            throw ExitCode(1)
        }
    }
}
