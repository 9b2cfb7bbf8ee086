import ArgumentParser
import GatewayAPI
import IoTCore
import NIOHTTP1

/// Commands for the bindings of a device.
extension DeviceCommand {
    struct Target: ParsableArguments {
        @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
        var device: String

        var path: APIPath { APIPath("v1", "devices", device) }
    }

    struct Bind: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Share a device with an account, or change what the account may do.",
            discussion: """
                The actions are:
                  view       read properties, watch, listen, take snapshots, get events
                  talk       speak through the device
                  playback   watch recordings
                  control    take actions, send messages
                  configure  write properties, rename
                A guest may view by default; an owner may do everything.

                EXAMPLES
                  iotctl device bind front bob
                  iotctl device bind front bob --action view --action control
                  iotctl device bind front carol --role owner --force
                """)

        @OptionGroup var target: Target

        @Argument(help: "The account.", completion: .users)
        var user: String

        @Option(help: "The account's role.")
        var role: BindingRole = .guest

        @Option(name: .customLong("action"), help: "An action to allow; may be repeated.")
        var actions: [DeviceAction] = []

        @Flag(help: "Take the device from another owner.")
        var force = false

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let request = BindingRequest(
                role: role, actions: actions.isEmpty ? nil : actions, force: force ? true : nil)
            let answer: BindingResponse = try await options.withClient {
                try await $0.call(.PUT, APIPath("v1", "devices", target.device, "bindings", user), request)
            }
            if options.json { return try Console.printJSON(answer) }
            try Console.print("\(answer.user) is \(answer.role.rawValue): \(Format.actions(answer.actions))")
        }
    }

    struct Unbind: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Unbind an account from a device; its channels to the device end at once.",
            discussion: """
                A device without an owner cannot be shared: an administrator gives it to an
                account with `iotctl device bind DEVICE ACCOUNT --role owner`.

                EXAMPLES
                  iotctl device unbind front bob
                """)

        @OptionGroup var target: Target

        @Argument(help: "The account.", completion: .users)
        var user: String

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let answer: EmptyResponse = try await options.withClient {
                try await $0.call(.DELETE, APIPath("v1", "devices", target.device, "bindings", user), body: nil)
            }
            if options.json { return try Console.printJSON(answer) }
            try Console.print("unbound \(user)")
        }
    }

    struct Share: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a token with which an account binds itself to the device.",
            discussion: """
                Use this when you do not know the account. Every account of this hub can use
                the token until it expires: handle it like a password.

                EXAMPLES
                  iotctl device share front > front.share
                  iotctl device share front --action view --action talk --ttl 1d
                """)

        @OptionGroup var target: Target

        @Option(name: .customLong("action"), help: "An action to allow; may be repeated. (default: view)")
        var actions: [DeviceAction] = []

        @Option(
            help: ArgumentHelp("How long the token is valid, up to 7d. (default: 10m)", valueName: "time"),
            transform: DurationArgument.parse)
        var ttl = DurationArgument(.seconds(600))

        @OptionGroup var options: GlobalOptions

        func validate() throws { try ttl.check(1...604_800, "at most 7d") }

        func run() async throws {
            let request = ShareRequest(actions: actions.isEmpty ? nil : actions, ttlSeconds: ttl.seconds)
            let answer: ShareResponse = try await options.withClient {
                try await $0.call(.POST, APIPath("v1", "devices", target.device, "share"), request)
            }
            if options.json { return try Console.printJSON(answer) }
            try Console.print(answer.token)
            Console.note("\(Format.actions(answer.actions)), until \(Format.time(seconds: answer.expires))")
        }
    }

    struct Subscribe: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Bind your account to a device that was shared with a token.",
            discussion: """
                EXAMPLES
                  iotctl device subscribe front.share
                  iotctl device subscribe - < front.share
                """)

        @Argument(
            help: ArgumentHelp(
                "A file with the token; - reads standard input, or asks on a terminal.", valueName: "file"),
            completion: .file())
        var file: String

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let request = SubscriptionRequest(token: try SecretInput.read(file, what: "token"))
            let answer: BindingResponse = try await options.withClient {
                try await $0.call(.POST, APIPath("v1", "subscriptions"), request)
            }
            if options.json { return try Console.printJSON(answer) }
            try Console.print(
                "\(answer.user) is \(answer.role.rawValue) of \(answer.device): \(Format.actions(answer.actions))")
        }
    }

    struct Users: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the accounts that may use a device.",
            discussion: """
                EXAMPLES
                  iotctl device users front
                """)

        @OptionGroup var target: Target
        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let list = try await options.withClient {
                try await $0.get(BindingList.self, APIPath("v1", "devices", target.device, "bindings"))
            }
            if options.json { return try Console.printJSON(list) }
            var table = Table("ACCOUNT", "ROLE", "ACTIONS", "SINCE")
            for binding in list.bindings {
                table.append(
                    binding.accessId, binding.role.rawValue, Format.actions(binding.actions),
                    Format.time(binding.since))
            }
            try Console.print(table)
        }
    }
}
