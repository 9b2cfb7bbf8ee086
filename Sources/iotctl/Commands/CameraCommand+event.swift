import ArgumentParser
import GatewayAPI
import IoTCore
import NIOHTTP1

extension CameraCommand {
    struct Event: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Report something that was noticed at a camera.",
            discussion: """
                For a detector of motion, a switch, or any program beside the camera. The
                camera's users get the event EVENT_CAM/Detection. A camera whose key 'record' is
                'events' is recorded from recording.beforeEvent before now until
                recording.afterEvent after the event's end; another event prolongs it.

                EXAMPLES
                  iotctl camera event front motion --duration 20s
                  iotctl camera event front doorbell
                """)

        @Argument(help: "The camera's name.", completion: .cameras)
        var name: String

        @Argument(
            help: ArgumentHelp(
                "What: \(DetectionType.allCases.map(\.rawValue).joined(separator: ", ")).", valueName: "type"),
            completion: .list(DetectionType.allCases.map(\.rawValue)))
        var type: String

        @Option(
            help: ArgumentHelp("How long it lasts from now on, at most 1h: 10s, 2m. (default: 0s)", valueName: "time"),
            transform: DurationArgument.parse)
        var duration: DurationArgument?

        @OptionGroup var options: GlobalOptions

        func validate() throws {
            try duration?.check(1...3_600, "at most 1h", of: "--duration")
            guard DetectionType(rawValue: type) == nil else { return }
            let known = DetectionType.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("'\(type)' is unknown; use one of: \(known)")
        }

        func run() async throws {
            let seconds = duration.map { Double($0.milliseconds) / 1_000 }
            let report = try await options.withClient { client -> DetectionReport in
                try await client.call(
                    .POST, APIPath("v1", "cameras", name, "detections"), DetectionRequest(type: type, seconds: seconds))
            }
            if options.json { return try Console.printJSON(report) }
            try Console.print(
                "\(Format.time(report.start)) \(report.type), \(report.recorded ? "recorded" : "not recorded")")
        }
    }
}
