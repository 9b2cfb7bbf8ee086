import ArgumentParser
import GatewayAPI
import IoTCore

struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "List and show the devices of the account.",
        subcommands: [List.self, Show.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the devices.",
            discussion: """
                EXAMPLES
                  iotctl device list
                  iotctl device list --json | jq -r '.devices[] | select(.online) | .id'
                """)

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let list = try await options.withClient { try await $0.get(DeviceList.self, APIPath("v1", "devices")) }
            if options.json { return try Console.printJSON(list) }
            var table = Table("ID", "NAME", "ROLE", "ONLINE", "SINCE")
            for device in list.devices {
                table.append(
                    device.id, device.name, device.role, device.online ? "yes" : "no",
                    Format.time(device.presenceSince))
            }
            Console.print(table.text)
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a device and its thing model.",
            discussion: """
                EXAMPLES
                  iotctl device show front
                  iotctl device show 0123456789abcdef0123456789abcdef --json
                """)

        @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"))
        var device: String

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let detail = try await options.withClient {
                try await $0.get(DeviceDetail.self, APIPath("v1", "devices", device))
            }
            if options.json { return try Console.printJSON(detail) }
            Console.print(
                Table.pairs([
                    ("id", detail.id),
                    ("name", detail.name),
                    ("role", detail.role),
                    ("online", "\(detail.online ? "yes" : "no") since \(Format.time(detail.presenceSince))"),
                    ("version", String(detail.version)),
                    ("pending", detail.pending.isEmpty ? "-" : detail.pending.joined(separator: ", ")),
                ]))
            Console.print("")
            Console.print(detail.model.prettyText)
        }
    }
}
