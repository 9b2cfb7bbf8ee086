import ArgumentParser
import Foundation
import GatewayAPI
import IoTCore

extension RecordingCommand {
    struct Thumbnails: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write the pictures of a time as JPEGs, as for a timeline.",
            discussion: """
                Divides the time from --from to --to into equal parts, and writes the last key
                frame of each part in which something was recorded. The file has the name of the
                device and of the time at which the part begins.

                EXAMPLES
                  iotctl recording thumbnails front --from 24h --every 10m --output day
                  iotctl recording thumbnails front --from 20:00 --to 20:15 --count 30 \\
                    --size 640
                """)

        /// The most pictures of one call, so that a mistyped time does not fill the disk.
        private static let most: Int64 = 10_000

        @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
        var device: String

        @OptionGroup var times: TimesOptions

        @Option(
            help: ArgumentHelp("How long each part is, at least 1s.", valueName: "time"),
            transform: DurationArgument.parse)
        var every: DurationArgument?

        @Option(help: ArgumentHelp("How many parts, instead of their length.", valueName: "number"))
        var count: Int64?

        @Option(
            help: ArgumentHelp(
                "A width such as 640, or a maximum size such as 640x360. (default: 320)", valueName: "size"))
        var size: String?

        @Option(
            name: [.short, .long],
            help: ArgumentHelp("The directory, which is created. (default: .)", valueName: "directory"),
            completion: .directory)
        var output = "."

        @OptionGroup var options: GlobalOptions

        struct Outcome: Encodable {
            var file: String
            var bytes: Int
            /// When the part begins, and when the picture was captured: ms since 1970.
            var from: Int64
            var time: Int64
        }

        func validate() throws {
            let (from, to) = try times.range()
            _ = try length(from, to)
            try SnapshotCommand.checkSize(size)
        }

        /// The length of a part in ms.
        private func length(_ from: Int64, _ to: Int64) throws -> Int64 {
            guard (every == nil) != (count == nil) else { throw ValidationError("give either --every or --count") }
            guard count ?? 1 > 0 else { throw ValidationError("--count must be at least 1") }
            let length = every.map { Int64($0.milliseconds) } ?? (to - from - 1) / (count ?? 1) + 1
            guard (1_000...86_400_000).contains(length) else {
                throw ValidationError(
                    "each part must have 1 s to 24 h; this is \(Format.number(Double(length) / 1_000)) s")
            }
            guard (to - from - 1) / length < Self.most else {
                throw ValidationError("these are more than \(Self.most) pictures: choose a longer --every")
            }
            return length
        }

        func run() async throws {
            let (from, to) = try times.range()
            let length = try length(from, to)
            do {
                try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
            } catch {
                throw IoTError(.fileFailed, "the directory \(output) cannot be created", underlying: error)
            }
            let outcomes = try await options.withClient { client in
                var outcomes: [Outcome] = []
                var next: Int64? = from
                while let from = next {
                    let answer = try await client.get(
                        RecordingThumbnails.self,
                        APIPath(
                            "v1", "devices", device, "recordings", "thumbnails",
                            query: ["from": "\(from)", "to": "\(to)", "every": "\(length)", "size": size]))
                    for thumbnail in answer.thumbnails {
                        outcomes.append(try await write(thumbnail, of: outcomes.map(\.file)))
                    }
                    next = answer.next
                }
                return outcomes
            }
            guard !outcomes.isEmpty else {
                throw IoTError(
                    .playbackListEmpty, "nothing was recorded in this time",
                    remedy: "see `iotctl recording ranges \(device)`")
            }
            if options.json { return try Console.printJSON(["files": outcomes]) }
            for outcome in outcomes {
                try Console.print("\(outcome.file): \(Format.size(outcome.bytes)), \(Format.time(outcome.time))")
            }
        }

        private func write(_ thumbnail: RecordingThumbnail, of files: [String]) async throws -> Outcome {
            let name = "\(device)-\(Format.fileTime(thumbnail.from))".replacing("/", with: "_")
            let path = (output == "." ? "" : output.hasSuffix("/") ? output : output + "/") + name
            // Where daylight saving time ends, two parts may have the same local time.
            let file = files.suffix(4_000).contains(path + ".jpg") ? "\(path)-\(thumbnail.from).jpg" : path + ".jpg"
            let stream = try await FileOutput.open(file)
            try await stream.write(Array(thumbnail.jpeg))
            try await stream.close()
            return Outcome(file: file, bytes: thumbnail.jpeg.count, from: thumbnail.from, time: thumbnail.time)
        }
    }
}
