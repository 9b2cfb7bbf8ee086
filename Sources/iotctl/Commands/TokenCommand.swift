import ArgumentParser
import GatewayAPI
import IoTCore
import NIOHTTP1

struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Create, list and revoke tokens.",
        subcommands: [Create.self, List.self, Revoke.self])

    enum Kind: String, EnumerableFlag {
        case enrol, api, link

        var tokenKind: TokenKind {
            switch self {
            case .enrol: .enrolment
            case .api: .api
            case .link: .link
            }
        }

        /// The default lifetime.
        var lifetime: Duration {
            switch self {
            case .enrol: .seconds(600)
            case .api, .link: .seconds(30 * 86_400)
            }
        }

        static func help(for value: Kind) -> ArgumentHelp? {
            switch value {
            case .enrol: "An enrolment string for iotvideod --join FILE on another machine."
            case .api: "A bearer token for the HTTP API."
            case .link: "A token for a session with the hub."
            }
        }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a token and print it; it is not shown again.",
            discussion: """
                An enrolment is valid for 10 minutes by default, an hour at most, and can be
                used once. With --user the machine that joins becomes a gateway of that account.
                With --device it becomes the camera of that device (one per --device), which is
                created if it does not exist yet.

                EXAMPLES
                  iotctl token create --enrol --user bob > bob.enrol
                  iotctl token create --enrol --device yard --ttl 1h > yard.enrol
                  iotctl token create --api --name tablet --device front --action view \\
                    > viewer.token
                """)

        @Flag(exclusivity: .exclusive)
        var kind: Kind = .link

        @Option(help: ArgumentHelp("What the token is for; `token list` shows it.", valueName: "text"))
        var name: String?

        @Option(
            help: ArgumentHelp("The account that it is for. (default: your own)", valueName: "name"),
            completion: .users)
        var user: String?

        @Option(
            name: .customLong("device"),
            help: ArgumentHelp("A device to allow, or to join as; may be repeated.", valueName: "id"),
            completion: .devices)
        var devices: [String] = []

        @Option(
            name: .customLong("action"),
            help: "An action to allow; may be repeated.")
        var actions: [DeviceAction] = []

        @Option(
            help: ArgumentHelp(
                "How long it is valid, for example 1h. (default: 10m with --enrol, otherwise 30d)", valueName: "time"),
            transform: DurationArgument.parse)
        var ttl: DurationArgument?

        @OptionGroup var options: GlobalOptions

        func validate() throws {
            guard name == nil || kind != .enrol else { throw ValidationError("--name requires --api or --link") }
            guard actions.isEmpty || kind == .api else { throw ValidationError("--action requires --api") }
            guard devices.isEmpty || kind != .link else {
                throw ValidationError("--device requires --api or --enrol")
            }
            if kind == .enrol { try ttl?.check(1...3600, "at most 1h with --enrol") }
        }

        func run() async throws {
            let request = TokenRequest(
                kind: kind.tokenKind, name: name, user: user, devices: devices.isEmpty ? nil : devices,
                actions: actions.isEmpty ? nil : actions,
                ttlSeconds: (ttl ?? DurationArgument(kind.lifetime)).seconds)
            let answer: TokenResponse = try await options.withClient {
                try await $0.call(.POST, APIPath("v1", "tokens"), request)
            }
            if options.json { return try Console.printJSON(answer) }
            Console.note("\(answer.kind.rawValue) \(answer.id), until \(Format.time(seconds: answer.expires))")
            if let secret = answer.enrolment ?? answer.token { try Console.print(secret) }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List your tokens; administrators see those of all accounts.",
            discussion: """
                LAST USE is recorded for API tokens only, to the minute.

                EXAMPLES
                  iotctl token list
                """, aliases: ["ls"])

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let list = try await options.withClient { try await $0.get(TokenList.self, APIPath("v1", "tokens")) }
            if options.json { return try Console.printJSON(list) }
            var table = Table("ID", "NAME", "KIND", "FOR", "DEVICES", "ACTIONS", "ISSUED", "EXPIRES", "LAST USE")
            for token in list.tokens {
                table.append(
                    token.id, token.name ?? "-", token.kind.rawValue + (token.isLocal == true ? " (own)" : ""),
                    token.principal ?? "-",
                    token.devices?.joined(separator: ", ") ?? "all", Format.actions(token.actions),
                    Format.time(seconds: token.issued), Format.time(seconds: token.expires),
                    Format.time(seconds: token.lastUse))
            }
            try Console.print(table)
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a token; the sessions that use it end at once.",
            discussion: """
                EXAMPLES
                  iotctl token revoke 5f0c…
                  iotctl token revoke 5f0c… --yes
                """)

        @Argument(help: ArgumentHelp("The token's id, from token list.", valueName: "id"), completion: .tokens)
        var token: String

        @OptionGroup var confirmation: Confirmation

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            try confirmation.confirm("revoke the token \(token), which ends the sessions that use it")
            let answer: EmptyResponse = try await options.withClient {
                try await $0.call(.DELETE, APIPath("v1", "tokens", token), body: nil)
            }
            if options.json { return try Console.printJSON(answer) }
            try Console.print("revoked \(token)")
        }
    }
}
