import ArgumentParser
import GatewayAPI
import IoTCore
import NIOHTTP1

extension RecordingCommand {
    struct Thumbnail: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write the picture of a time as a JPEG.",
            discussion: """
                It is the key frame at this time, or the last one before it: a recording can be
                decoded from there on. Cameras normally send one every second or two.

                EXAMPLES
                  iotctl recording thumbnail front --at 20:00 front.jpg
                  iotctl recording thumbnail front --at 2026-11-24T20:00:00Z --size 320 - \\
                    > front.jpg
                """)

        @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
        var device: String

        @Argument(help: "Where to write it (.jpg); - is standard output.", completion: .file())
        var file: String

        @Option(
            help: ArgumentHelp("The time, as of recording list.", valueName: "time"), transform: TimeArgument.parse)
        var at: TimeArgument

        @Option(help: ArgumentHelp("A width such as 640, or a maximum size such as 640x360.", valueName: "size"))
        var size: String?

        @OptionGroup var options: GlobalOptions

        struct Outcome: Encodable {
            var file: String
            var bytes: Int
            /// ms since 1970.
            var time: Int64?
        }

        func validate() throws {
            try SnapshotCommand.checkFile(file)
            try SnapshotCommand.checkSize(size)
        }

        func run() async throws {
            let (headers, bytes) = try await options.withClient {
                try await $0.bytes(
                    APIPath(
                        "v1", "devices", device, "recordings", "thumbnail",
                        query: ["at": "\(at.milliseconds)", "size": size]))
            }
            let output = try await FileOutput.open(file)
            try await output.write(bytes)
            try await output.close()
            if file == "-" { return }
            let time = headers.first(name: APIHeader.pts).flatMap { Int64($0) }.map { $0 / 1_000 }
            if options.json { return try Console.printJSON(Outcome(file: file, bytes: bytes.count, time: time)) }
            let moment = time.map { ", " + Format.time($0) } ?? ""
            try Console.print("\(file): \(Format.size(bytes.count))\(moment)")
        }
    }
}
