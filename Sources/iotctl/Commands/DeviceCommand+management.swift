import ArgumentParser
import GatewayAPI
import IoTCore
import NIOHTTP1

/// Commands that create, rename, remove and export devices.
extension DeviceCommand {
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a device; its camera joins later.",
            discussion: """
                Without --owner the device has no owner, and no account lists it before
                `iotctl device bind NAME ACCOUNT --role owner`. Administrators may show, rename
                and export it by its name.

                EXAMPLES
                  iotctl device create yard --owner bob
                  iotctl token create --enrol --device yard > yard.enrol
                """)

        @Argument(help: "The device's name: 1 to 64 letters, digits, _, - and .")
        var name: String

        @Option(
            help: ArgumentHelp(
                "The account that owns it; without this option, the device has no owner.", valueName: "name"))
        var owner: String?

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let answer: DeviceResponse = try await options.withClient {
                try await $0.call(.POST, APIPath("v1", "devices"), DeviceRequest(name: name, owner: owner))
            }
            if options.json { return try Console.printJSON(answer) }
            try Console.print(answer.device)
            guard owner == nil else { return }
            Console.note(
                "\(answer.name) has no owner yet, so no account lists it: run "
                    + "`iotctl device bind \(answer.name) ACCOUNT --role owner`")
        }
    }

    struct Rename: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give a device another name.",
            discussion: """
                EXAMPLES
                  iotctl device rename front door
                """)

        @OptionGroup var target: Target

        @Argument(help: "The new name.")
        var name: String

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let answer: EmptyResponse = try await options.withClient {
                try await $0.call(.PATCH, target.path, DeviceRename(name: name))
            }
            if options.json { return try Console.printJSON(answer) }
            try Console.print("\(target.device) is now \(name)")
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a device from the hub with its model, events, bindings and tokens.",
            discussion: """
                EXAMPLES
                  iotctl device remove yard
                  iotctl device remove yard --yes
                """, aliases: ["rm"])

        @OptionGroup var target: Target
        @OptionGroup var confirmation: Confirmation
        @OptionGroup var options: GlobalOptions

        func run() async throws {
            try confirmation.confirm(
                "remove the device '\(target.device)' with its model, events, bindings and tokens")
            let answer: EmptyResponse = try await options.withClient {
                try await $0.call(.DELETE, target.path, body: nil)
            }
            if options.json { return try Console.printJSON(answer) }
            try Console.print("removed \(target.device)")
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print everything that the hub stores of a device's thing model, as JSON.",
            discussion: """
                EXAMPLES
                  iotctl device export front > front.json
                """)

        @OptionGroup var target: Target
        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let export = try await options.withClient {
                try await $0.get(DeviceExport.self, APIPath("v1", "devices", target.device, "export"))
            }
            try Console.printJSON(export)
        }
    }
}
