import ArgumentParser
import GatewayAPI
import IoTCore

struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "List, show, share and manage devices.",
        subcommands: [
            List.self, Show.self, Bind.self, Unbind.self, Share.self, Subscribe.self, Users.self, Create.self,
            Rename.self, Remove.self,
            Export.self, Key.self, LANPassword.self,
        ])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the devices of an account.",
            discussion: """
                ONLINE is yes when the device is connected to the hub and, if it is a camera,
                its source delivers; otherwise it is no, with the state: offline, connecting,
                failed or off. SINCE is when the state began.

                EXAMPLES
                  iotctl device list
                  iotctl device list --user bob
                  iotctl device list --json | jq -r '.devices[] | select(.online) | .id'
                """, aliases: ["ls"])

        @Option(
            help: ArgumentHelp("List the devices of this account; administrators only.", valueName: "name"),
            completion: .users)
        var user: String?

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let list = try await options.withClient {
                try await $0.get(DeviceList.self, APIPath("v1", "devices", query: ["user": user]))
            }
            if options.json { return try Console.printJSON(list) }
            var table = Table("ID", "NAME", "ROLE", "ACTIONS", "ONLINE", "SINCE")
            for device in list.devices {
                table.append(
                    device.id, device.name, device.role, Format.actions(device.actions),
                    Format.presence(device), Format.time(device.stateSince))
            }
            try Console.print(table)
            for device in list.devices {
                guard let reason = device.reason else { continue }
                try Console.print("\(device.name): \(reason.error)\n  \(reason.remedy)")
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a device and its thing model.",
            discussion: """
                The row "key" is the fingerprint of the device's signing key, and how it was
                learned: ap (over its access point), lan (seen on the network) or hub. If the
                hub now reports another key, the command fails with 25080 after the output.

                EXAMPLES
                  iotctl device show front
                  iotctl device show 0123456789abcdef0123456789abcdef --json
                """)

        @OptionGroup var target: Target
        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let detail = try await options.withClient { try await $0.get(DeviceDetail.self, target.path) }
            if options.json {
                try Console.printJSON(detail)
                return try checkKey(detail)
            }
            try Console.print(
                Table.pairs([
                    ("id", detail.id),
                    ("name", detail.name),
                    ("role", detail.role.isEmpty ? "-" : "\(detail.role): \(Format.actions(detail.actions))"),
                    ("owner", detail.owner ?? "-"),
                    ("online", Format.presence(detail.summary)),
                    ("state", "\(detail.state.rawValue) since \(Format.time(detail.stateSince))"),
                    ("reason", detail.reason.map { "\($0.error)" } ?? "-"),
                    ("key", Format.key(detail.key, of: detail)),
                    ("version", String(detail.version)),
                    ("pending", detail.pending.isEmpty ? "-" : detail.pending.joined(separator: ", ")),
                ]))
            try Console.print("")
            try Console.print(detail.model.prettyText)
            try checkKey(detail)
        }

        private func checkKey(_ detail: DeviceDetail) throws {
            if let failure = detail.key?.failure { throw failure.error }
        }
    }
}
