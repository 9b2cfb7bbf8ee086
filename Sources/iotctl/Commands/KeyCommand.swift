import ArgumentParser
import GatewayAPI
import IoTCore
import NIOHTTP1

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Create, list and revoke media keys.",
        subcommands: [Create.self, List.self, Revoke.self])

    /// The actions that a key can allow.
    enum Action: String, ExpressibleByArgument, CaseIterable {
        case view, talk, playback

        var deviceAction: DeviceAction {
            switch self {
            case .view: .view
            case .talk: .talk
            case .playback: .playback
            }
        }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a media key and print it; it is not shown again.",
            discussion: """
                A media key is used in an address, as ?key=KEY, where no bearer token can be
                sent: in a video element, an EventSource, or a WHEP player without headers. It
                opens media and event streams only. It has the current rights of its account,
                until it expires or is revoked. In the address of the watch page it follows
                #key=, which does not appear in server logs. An RTSP player logs in with the
                key's first ten characters as the user name and the whole key as the password.

                EXAMPLES
                  iotctl key create tablet --device front --ttl 365d
                  iotctl key create go2rtc > go2rtc.key
                  iotctl key create bob-tv --user bob --device front --action view

                With the key of the first example:
                  https://gateway.example:8443/watch/front#key=KEY
                  https://gateway.example:8443/v1/devices/front/whep?key=KEY
                  rtsps://0123456789:KEY@gateway.example:8554/front
                """)

        @Argument(help: ArgumentHelp("What the key is for, in your own words.", valueName: "name"))
        var name: String

        @Option(
            help: ArgumentHelp("The account that it is for. (default: your own)", valueName: "name"),
            completion: .users)
        var user: String?

        @Option(
            name: .customLong("device"),
            help: ArgumentHelp(
                "A device to allow; may be repeated. (default: all of the account's)", valueName: "id"),
            completion: .devices)
        var devices: [String] = []

        @Option(
            name: .customLong("action"),
            help: "An action to allow; may be repeated. (default: view)")
        var actions: [Action] = []

        @Option(
            help: ArgumentHelp("How long it is valid, for example 1h. (default: 30d)", valueName: "time"),
            transform: DurationArgument.parse)
        var ttl: DurationArgument?

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let request = KeyRequest(
                name: name, user: user, devices: devices.isEmpty ? nil : devices,
                actions: actions.isEmpty ? nil : actions.map(\.deviceAction),
                ttlSeconds: (ttl ?? DurationArgument(.seconds(30 * 86_400))).seconds)
            let answer: KeyResponse = try await options.withClient {
                try await $0.call(.POST, APIPath("v1", "keys"), request)
            }
            if options.json { return try Console.printJSON(answer) }
            Console.note("media key \(answer.id), until \(Format.time(seconds: answer.expires))")
            try Console.print(answer.key)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List your media keys; administrators see those of all accounts.",
            discussion: """
                LAST USE is exact to a minute.

                EXAMPLES
                  iotctl key list
                """, aliases: ["ls"])

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let list = try await options.withClient { try await $0.get(KeyList.self, APIPath("v1", "keys")) }
            if options.json { return try Console.printJSON(list) }
            var table = Table("ID", "NAME", "FOR", "DEVICES", "ACTIONS", "ISSUED", "EXPIRES", "LAST USE")
            for key in list.keys {
                table.append(
                    key.id, key.name, key.account, key.devices?.joined(separator: ", ") ?? "all",
                    Format.actions(key.actions), Format.time(seconds: key.issued), Format.time(seconds: key.expires),
                    Format.time(seconds: key.lastUse))
            }
            try Console.print(table)
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a media key; its streams end within two seconds.",
            discussion: """
                EXAMPLES
                  iotctl key revoke 5f0c2d9a41
                  iotctl key revoke 5f0c2d9a41 --yes
                """)

        @Argument(help: ArgumentHelp("The key's id, from key list.", valueName: "id"), completion: .keys)
        var key: String

        @OptionGroup var confirmation: Confirmation

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            try confirmation.confirm("revoke the media key \(key), which ends its streams")
            let answer: EmptyResponse = try await options.withClient {
                try await $0.call(.DELETE, APIPath("v1", "keys", key), body: nil)
            }
            if options.json { return try Console.printJSON(answer) }
            try Console.print("revoked \(key)")
        }
    }
}
