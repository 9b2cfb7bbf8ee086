import ArgumentParser
import GatewayAPI
import NIOHTTP1

struct ReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Read the configuration again, without interrupting what has not changed.",
        discussion: """
            A wrong configuration is refused, and the old one stays in effect.

            EXAMPLES
              iotctl reload
            """)

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let answer: ReloadResponse = try await options.withClient {
            try await $0.call(.POST, APIPath("v1", "configuration", "reload"), body: nil)
        }
        if options.json { return try Console.printJSON(answer) }
        let lines = [
            ("added", answer.added), ("changed", answer.changed), ("removed", answer.removed),
            ("needs a restart", answer.restartNeeded),
        ]
        let filled = lines.filter { !$0.1.isEmpty }
        try Console.print(
            filled.isEmpty ? "nothing changed" : Table.pairs(filled.map { ($0.0, $0.1.joined(separator: ", ")) }))
    }
}
