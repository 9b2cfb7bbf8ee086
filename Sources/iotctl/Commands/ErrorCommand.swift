import ArgumentParser
import GatewayAPI
import IoTCore

struct ErrorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "error", abstract: "Explain an error's number or name.",
        discussion: """
            Works without a daemon. A number that is not in the list is explained by its
            range.

            EXAMPLES
              iotctl error 20005
              iotctl error deviceOffline
              iotctl error 21024 --json | jq -r .remedy
            """)

    @Argument(help: ArgumentHelp("The number, or the name.", valueName: "number"))
    var word: String

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let explanation = try ErrorExplanation(word)
        if json { return try Console.printJSON(explanation) }
        try Console.print(explanation.text)
    }
}
