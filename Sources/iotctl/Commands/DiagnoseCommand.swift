import ArgumentParser
import GatewayAPI
import IoTCore

struct DiagnoseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diagnose", abstract: "Play a camera and say what is wrong with its picture or sound.",
        discussion: """
            Opens a channel, plays for some seconds and measures the stages of the play.
            Each part may take one second: connecting (stages 1 to 3), the first data (3 to
            7) and decoding (7 to 9). The exit status is 1 if there is a problem.
            docs/diagnosis.md explains the stages and the problems.

            EXAMPLES
              iotctl diagnose front
              iotctl diagnose front --duration 30s
              iotctl diagnose front --json | jq -r '.findings[].message'
            """)

    @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
    var device: String

    @Option(
        help: ArgumentHelp("How long to play. (default: 12s)", valueName: "time"), transform: DurationArgument.parse)
    var duration: DurationArgument?

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let limit = duration?.duration ?? .seconds(12)
        let diagnosis = try await options.withClient { client in
            try await DiagnoseSession(client: client, device: device, duration: limit).run()
        }
        if options.json {
            try Console.printJSON(diagnosis)
        } else {
            try Console.print(DiagnosisReport(diagnosis).text)
        }
        // The report says what is wrong.
        if !diagnosis.isHealthy { throw ExitCode(1) }
    }
}
