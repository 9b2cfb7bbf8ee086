import ArgumentParser
import GatewayAPI
import IoTCore
import NIOHTTP1

struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Manage the accounts of the hub.",
        discussion: "For administrators; `user temporary` also for the owner of the device.",
        subcommands: [List.self, Create.self, Temporary.self, Remove.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the accounts.",
            discussion: """
                EXAMPLES
                  iotctl user list
                """, aliases: ["ls"])

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let list = try await options.withClient { try await $0.get(UserList.self, APIPath("v1", "users")) }
            if options.json { return try Console.printJSON(list) }
            var table = Table("NAME", "KIND", "DEVICE", "CREATED", "EXPIRES")
            for user in list.users {
                table.append(
                    user.accessId, user.kind.rawValue, user.device ?? "-", Format.time(user.created),
                    Format.time(seconds: user.expires))
            }
            try Console.print(table)
        }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create an account.",
            discussion: """
                The account sees no device until one is bound to it.

                EXAMPLES
                  iotctl user create bob
                  iotctl device bind front bob --action view --action talk
                  iotctl token create --enrol --user bob
                """)

        @Argument(help: "The account's name: 1 to 64 characters of a-z, 0-9, _ and -.")
        var name: String

        @Flag(help: "The account may manage accounts, devices and the tokens of others.")
        var administrator = false

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let request = UserRequest(accessId: name, kind: administrator ? .administrator : .member)
            let answer: UserResponse = try await options.withClient {
                try await $0.call(.POST, APIPath("v1", "users"), request)
            }
            if options.json { return try Console.printJSON(answer) }
            try Console.print("\(answer.kind.rawValue) \(answer.accessId)")
        }
    }

    struct Temporary: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a temporary account for one device; print the enrolment for its user.",
            discussion: """
                The account, its token and its channels end when its time has expired; with
                --one-call already when its first call has ended: a channel of any kind, or a
                browser's.

                EXAMPLES
                  iotctl user temporary front --ttl 2h
                  iotctl user temporary front --action view --action talk --ttl 1d
                  iotctl user temporary front --ttl 1d --one-call
                """)

        @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
        var device: String

        @Option(name: .customLong("action"), help: "An action to allow; may be repeated. (default: view)")
        var actions: [DeviceAction] = []

        @Option(
            help: ArgumentHelp("How long it exists, 1m to 7d. (default: 1h)", valueName: "time"),
            transform: DurationArgument.parse)
        var ttl: DurationArgument = DurationArgument(.seconds(3600))

        @Flag(help: "The account ends with its first call.")
        var oneCall = false

        @OptionGroup var options: GlobalOptions

        func validate() throws { try ttl.check(60...604_800, "from 1m to 7d") }

        func run() async throws {
            let request = TemporaryUserRequest(
                device: device, actions: actions.isEmpty ? nil : actions, ttlSeconds: ttl.seconds,
                oneCall: oneCall ? true : nil)
            let answer: TemporaryUserResponse = try await options.withClient {
                try await $0.call(.POST, APIPath("v1", "users", "temporary"), request)
            }
            if options.json { return try Console.printJSON(answer) }
            Console.note("\(answer.accessId) until \(Format.time(seconds: answer.expires))")
            if let enrolment = answer.enrolment { try Console.print(enrolment) }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove an account with its bindings and tokens; its sessions and channels end.",
            discussion: """
                EXAMPLES
                  iotctl user remove bob
                  iotctl user remove bob --yes
                """, aliases: ["rm"])

        @Argument(help: "The account's name.", completion: .users)
        var name: String

        @OptionGroup var confirmation: Confirmation

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            try confirmation.confirm("remove the account '\(name)' with its bindings and tokens")
            let answer: EmptyResponse = try await options.withClient {
                try await $0.call(.DELETE, APIPath("v1", "users", name), body: nil)
            }
            if options.json { return try Console.printJSON(answer) }
            try Console.print("removed \(name)")
        }
    }
}
