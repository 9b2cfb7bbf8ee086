import ArgumentParser
import GatewayAPI
import IoTCore

extension RecordingCommand {
    struct Download: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Download recordings as MP4 files.",
            discussion: """
                Gets the recordings with these ids, or all that overlap the time from --from to
                --to. A download that broke off continues where it stopped. A file that is
                complete is not downloaded again.

                EXAMPLES
                  iotctl recording download front 31
                  iotctl recording download front 31 --output - | ffplay -
                  iotctl recording download front --from 20:00 --to 20:15 --output burglary/
                """)

        @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
        var device: String

        @Argument(help: ArgumentHelp("The ids of recordings, from recording list.", valueName: "recording"))
        var recordings: [String] = []

        @OptionGroup var times: TimesOptions

        @Option(
            name: [.short, .long],
            help: ArgumentHelp(
                "Where to write: a directory; for one recording also a file, or - for standard output. (default: .)",
                valueName: "path"), completion: .file())
        var output = "."

        @OptionGroup var options: GlobalOptions

        func validate() throws {
            guard recordings.isEmpty != (times.from == nil) else {
                throw ValidationError("give either the ids of recordings or --from")
            }
            guard recordings.allSatisfy({ UInt32($0) != nil }) else {
                throw ValidationError("a recording's id is a number, from recording list")
            }
            guard output != "-" || recordings.count == 1 else {
                throw ValidationError("standard output takes one recording: give one id")
            }
        }

        func run() async throws {
            let outcomes = try await options.withClient { client in
                let ids = recordings.isEmpty ? try await found(client) : recordings
                var outcomes: [RecordingDownload.Outcome] = []
                for (position, id) in ids.enumerated() {
                    let path = APIPath("v1", "devices", device, "recordings", id, "video.mp4")
                    let note = ids.count > 1 ? "\(position + 1)/\(ids.count) " : ""
                    outcomes.append(
                        try await RecordingDownload(client, path, name: "\(device)-\(id).mp4", note: note)
                            .run(to: output, isOne: ids.count == 1))
                }
                return outcomes
            }
            if output == "-" { return }
            if options.json { return try Console.printJSON(["files": outcomes]) }
            for outcome in outcomes { try Console.print(outcome.line) }
        }

        private func found(_ client: GatewayClient) async throws -> [String] {
            let (list, _) = try await RecordingCommand.recordings(client, of: device, in: times, limit: 100_000)
            guard !list.isEmpty else {
                throw IoTError(
                    .playbackListEmpty, "nothing was recorded in this time",
                    remedy: "see `iotctl recording ranges \(device)`")
            }
            return list.map(\.id)
        }
    }
}
