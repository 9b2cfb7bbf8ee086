import ArgumentParser
import GatewayAPI
import NIOHTTP1

struct LinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link", abstract: "Register the gateway with its hub, or unregister it.",
        subcommands: [Register.self, Unregister.self])

    struct Register: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Register with the hub again, after kickOff or at once while offline.",
            discussion: """
                In link state kickOff (see `iotctl status`), another gateway of this account has
                replaced this one; registering replaces the other one in turn. In state offline,
                it registers without waiting for the next attempt.

                EXAMPLES
                  iotctl link register
                """)

        @OptionGroup var options: GlobalOptions

        func run() async throws { try await LinkCommand.post("register", options) }
    }

    struct Unregister: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Unregister from the hub until `iotctl link register`.",
            discussion: """
                EXAMPLES
                  iotctl link unregister
                """)

        @OptionGroup var options: GlobalOptions

        func run() async throws { try await LinkCommand.post("unregister", options) }
    }

    private static func post(_ verb: String, _ options: GlobalOptions) async throws {
        let state: LinkState = try await options.withClient {
            try await $0.call(.POST, APIPath("v1", "link", verb), body: nil)
        }
        if options.json { return try Console.printJSON(state) }
        try Console.print(state.name)
    }
}
