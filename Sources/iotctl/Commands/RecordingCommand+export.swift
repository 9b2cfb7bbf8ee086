import ArgumentParser
import GatewayAPI
import IoTCore

extension RecordingCommand {
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Save the recordings of a time as one MP4 file.",
            discussion: """
                Players show the file from the picture at --from to that at --to, without the
                gaps between recordings; at most two hours. A few seconds before --from are in
                the file, too, which players do not show. An export that broke off continues
                where it stopped, if --to is given.

                EXAMPLES
                  iotctl recording export front --from 20:00 --to 20:15 --output burglary.mp4
                  iotctl recording export front --from 10m
                """)

        @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
        var device: String

        @OptionGroup var times: TimesOptions

        @Option(
            name: [.short, .long],
            help: ArgumentHelp(
                "Where to write: a file, a directory, or - for standard output. (default: .)", valueName: "path"),
            completion: .file())
        var output = "."

        @OptionGroup var options: GlobalOptions

        func validate() throws { _ = try times.range() }

        func run() async throws {
            let (from, to) = try times.range()
            let path = APIPath(
                "v1", "devices", device, "recordings", "clip.mp4", query: ["from": "\(from)", "to": "\(to)"])
            let name = "\(device)-\(Format.fileTime(from)).mp4"
            let outcome = try await options.withClient { client in
                try await RecordingDownload(client, path, name: name, note: "").run(to: output, isOne: true)
            }
            if output == "-" { return }
            if options.json { return try Console.printJSON(outcome) }
            try Console.print(outcome.line)
        }
    }
}
