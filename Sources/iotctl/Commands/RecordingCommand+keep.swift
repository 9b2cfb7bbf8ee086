import ArgumentParser
import GatewayAPI
import IoTCore
import NIOHTTP1

extension RecordingCommand {
    struct Keep: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Keep the recordings of a time: they are not removed, however old or full the disk.",
            discussion: """
                For the camera's owner. What will be recorded in this time is kept, too.

                EXAMPLES
                  iotctl recording keep front --from 20:00 --to 20:15 --note burglary
                """)

        @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
        var device: String

        @OptionGroup var times: TimesOptions

        @Option(help: ArgumentHelp("Why, for people.", valueName: "text"))
        var note: String?

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let (from, to) = try times.range()
            let request = KeptTimeRequest(from: from, to: to, note: note)
            let (kept, isEmpty) = try await options.withClient { client -> (KeptTime, Bool) in
                let kept: KeptTime = try await client.call(
                    .POST, APIPath("v1", "devices", device, "recordings", "kept"), request)
                let found = try await RecordingCommand.recordings(client, of: device, in: times, limit: 1)
                return (kept, found.entries.isEmpty)
            }
            if options.json { return try Console.printJSON(kept) }
            try Console.print("kept \(kept.id): \(Format.time(kept.from)) to \(Format.time(kept.to))")
            if isEmpty { Console.note("nothing is recorded in this time: see `iotctl recording ranges \(device)`") }
        }
    }

    struct Kept: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the kept times.",
            discussion: """
                EXAMPLES
                  iotctl recording kept front
                """)

        @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
        var device: String

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let list = try await options.withClient {
                try await $0.get(KeptTimeList.self, APIPath("v1", "devices", device, "recordings", "kept"))
            }
            if options.json { return try Console.printJSON(list) }
            var table = Table("ID", "FROM", "TO", "NOTE")
            for kept in list.kept {
                table.append(kept.id, Format.time(kept.from), Format.time(kept.to), kept.note)
            }
            try Console.print(table)
        }
    }

    struct Release: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "No longer keep a time. Its recordings are removed when their age or space requires it.",
            discussion: """
                EXAMPLES
                  iotctl recording release front 1764014400000
                """)

        @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
        var device: String

        @Argument(help: ArgumentHelp("The id, from recording kept.", valueName: "kept id"))
        var kept: String

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let answer: EmptyResponse = try await options.withClient {
                try await $0.call(.DELETE, APIPath("v1", "devices", device, "recordings", "kept", kept), body: nil)
            }
            if options.json { return try Console.printJSON(answer) }
            try Console.print("released \(kept)")
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove the recordings of a time for good.",
            discussion: """
                For the camera's owner. Recordings are removed as a whole, so up to a minute
                more at both ends. Those that are kept, being read or still growing stay.

                EXAMPLES
                  iotctl recording remove front --from '2026-11-24 20:00' \\
                    --to '2026-11-24 21:00' --yes
                """, aliases: ["rm"])

        @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
        var device: String

        @OptionGroup var times: TimesOptions
        @OptionGroup var confirmation: Confirmation
        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let (from, to) = try times.range()
            try confirmation.confirm(
                "remove the recordings of '\(device)' from \(Format.time(from)) to \(Format.time(to))")
            let report: RecordingRemovalReport = try await options.withClient {
                try await $0.call(
                    .DELETE, APIPath("v1", "devices", device, "recordings"), RecordingRemoval(from: from, to: to),
                    timeout: .seconds(300))
            }
            if options.json { return try Console.printJSON(report) }
            try Console.print("removed \(report.removed) recordings, \(Format.size(Int(report.bytes)))")
            if report.kept > 0 {
                Console.note("\(report.kept) stay because they are kept: iotctl recording kept \(device)")
            }
            if report.inUse > 0 { Console.note("\(report.inUse) stay because somebody is reading them") }
            if report.growing > 0 { Console.note("\(report.growing) stay because they are still growing") }
        }
    }

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Compare the recording disk with its index.",
            discussion: """
                For administrators. It only reads, also while the disk records. Exit status 1
                if something does not fit.

                EXAMPLES
                  iotctl recording check
                  iotctl recording check --thorough
                """)

        @Flag(help: "Also read every file's fragments, which can take long.")
        var thorough = false

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let path = APIPath("v1", "recordings", "check", query: ["thorough": thorough ? "true" : "false"])
            let report = try await options.withClient {
                try await $0.get(RecordingCheck.self, path, timeout: .seconds(86_400))
            }
            if options.json {
                try Console.printJSON(report)
            } else {
                for finding in report.findings { try Console.print(finding) }
                if report.findingCount > report.findings.count {
                    try Console.print("… \(report.findingCount - report.findings.count) more")
                }
                try Console.print(
                    "\(report.segments) recordings, \(Format.size(Int(report.bytes))): "
                        + (report.findingCount == 0 ? "everything fits" : "\(report.findingCount) findings"))
            }
            if report.findingCount > 0 { throw ExitCode.failure }
        }
    }
}
