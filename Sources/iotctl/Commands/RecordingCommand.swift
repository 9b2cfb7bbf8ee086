import ArgumentParser
import GatewayAPI
import IoTCore

struct RecordingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recording", abstract: "List, download, keep and remove the recordings of a camera.",
        discussion: """
            `iotctl camera set NAME --record continuous` records a camera. Lists and
            downloads of a camera of another box come from that box; the other commands are
            for the cameras of the daemon's own box. `iotctl playback` plays recordings.

            EXAMPLES
              iotctl recording list front --from 2h
              iotctl recording days front
              iotctl recording download front 31
              iotctl recording keep front --from 20:00 --to 20:15 --note burglary
            """,
        subcommands: [
            List.self, Ranges.self, Days.self, Thumbnail.self, Thumbnails.self, Download.self, Export.self,
            Keep.self, Kept.self, Release.self, Remove.self, Check.self, Key.self, Decrypt.self,
        ])

    /// Gets all pages of a list, up to `limit` entries.
    static func pages<Answer: Decodable, Entry>(
        _ client: GatewayClient, _ path: (_ limit: Int, _ after: String?) -> APIPath, limit: Int,
        _ part: (Answer) -> (entries: [Entry], next: String?)
    ) async throws -> (entries: [Entry], isWhole: Bool) {
        var entries: [Entry] = []
        var after: String?
        repeat {
            let answer = try await client.get(Answer.self, path(min(500, limit - entries.count), after))
            let page = part(answer)
            entries += page.entries
            after = page.next
        } while after != nil && entries.count < limit
        return (entries, after == nil)
    }

    /// The recordings that overlap a time, up to `limit`.
    static func recordings(
        _ client: GatewayClient, of device: String, in times: TimesOptions, newestFirst: Bool = false, limit: Int
    ) async throws -> (entries: [Recording], isWhole: Bool) {
        try await pages(
            client,
            { limit, after in
                APIPath(
                    "v1", "devices", device, "recordings",
                    query: [
                        "from": times.items.from, "to": times.items.to, "order": newestFirst ? "descending" : nil,
                        "limit": "\(limit)", "after": after,
                    ])
            }, limit: limit
        ) { (list: RecordingList) in (list.recordings, list.next) }
    }

    /// - Parameter asOf: `RecordedTimeList.asOf`.
    fileprivate static func note(asOf: Int64?) {
        guard let asOf else { return }
        Console.note("the camera's box is offline; this is what it told the hub at \(Format.time(asOf))")
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the recordings of a camera, the oldest first.",
            discussion: """
                A recording is a file of about a minute.

                EXAMPLES
                  iotctl recording list front --from '2026-11-24 20:00' --to '2026-11-24 21:00'
                  iotctl recording list front --newest-first --limit 1 --json \\
                    | jq -r '.recordings[0].id'
                """, aliases: ["ls"])

        @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
        var device: String

        @OptionGroup var times: TimesOptions

        @Flag(help: "The newest first.")
        var newestFirst = false

        @Option(help: ArgumentHelp("The maximum number of recordings.", valueName: "n"))
        var limit = 500

        @OptionGroup var options: GlobalOptions

        func validate() throws {
            guard (1...1_000_000).contains(limit) else { throw ValidationError("--limit must be from 1 to 1000000") }
        }

        func run() async throws {
            let (recordings, isWhole) = try await options.withClient { client in
                try await RecordingCommand.recordings(
                    client, of: device, in: times, newestFirst: newestFirst, limit: limit)
            }
            if options.json { return try Console.printJSON(RecordingList(recordings: recordings)) }
            var table = Table("ID", "START", "LENGTH", "SIZE", "STATE", "REASON", "KEPT")
            for recording in recordings {
                table.append(
                    recording.id, Format.time(recording.start),
                    Format.seconds(Double(recording.end - recording.start) / 1000), Format.size(Int(recording.bytes)),
                    recording.state.rawValue, recording.reason.rawValue, recording.kept ? "yes" : "-")
            }
            try Console.print(table)
            if !isWhole { Console.note("there are more: raise --limit, or narrow --from and --to") }
        }
    }

    struct Ranges: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the times without a gap.",
            discussion: """
                EXAMPLES
                  iotctl recording ranges front --from 1d
                """)

        @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
        var device: String

        @OptionGroup var times: TimesOptions
        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let (entries, _) = try await options.withClient { client in
                try await RecordingCommand.pages(
                    client,
                    { limit, after in
                        APIPath(
                            "v1", "devices", device, "recordings", "ranges",
                            query: [
                                "from": times.items.from, "to": times.items.to, "limit": "\(limit)", "after": after,
                            ])
                    }, limit: 100_000
                ) { (list: RecordedTimeList) in
                    (list.ranges.map { (range: $0, asOf: list.asOf) }, list.next)
                }
            }
            let (ranges, asOf) = (entries.map(\.range), entries.last?.asOf)
            if options.json {
                var list = RecordedTimeList(ranges: ranges)
                list.asOf = asOf
                return try Console.printJSON(list)
            }
            var table = Table("START", "END", "LENGTH", "REASON")
            for range in ranges {
                table.append(
                    Format.time(range.start), Format.time(range.end),
                    Format.uptime(Int(range.end - range.start) / 1000),
                    range.reason.rawValue)
            }
            try Console.print(table)
            RecordingCommand.note(asOf: asOf)
        }
    }

    struct Days: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the days with recordings.",
            discussion: """
                EXAMPLES
                  iotctl recording days front
                  iotctl recording days front --zone America/Lima
                """)

        @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
        var device: String

        @Option(
            help: ArgumentHelp(
                "Where a day begins and ends, for example Europe/Berlin. (default: here)", valueName: "zone"))
        var zone: String?

        @OptionGroup var times: TimesOptions
        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let path = APIPath(
                "v1", "devices", device, "recordings", "days",
                query: [
                    "from": times.items.from, "to": times.items.to, "zone": zone ?? LocalZone.name,
                ])
            let list = try await options.withClient { try await $0.get(RecordedDayList.self, path) }
            if options.json { return try Console.printJSON(list) }
            for day in list.days { try Console.print(day.date) }
            RecordingCommand.note(asOf: list.asOf)
        }
    }
}
