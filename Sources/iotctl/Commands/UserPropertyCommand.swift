import ArgumentParser
import GatewayAPI
import IoTCore
import NIOHTTP1

struct UserPropertyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user-property", abstract: "Add, set and delete your own properties of a device.",
        discussion: "The hub keeps them under ProUser. Names that begin with '_' are refused (8605).",
        subcommands: [Add.self, Set.self, Delete.self])

    struct Target: ParsableArguments {
        @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
        var device: String

        @Argument(help: "The property's name.")
        var name: String

        var path: APIPath { APIPath("v1", "devices", device, "user-properties", name) }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a user property (ProUser), or replace the property of this name.",
            discussion: """
                An existing property is replaced, even by a value of another type (as in the
                IoT video SDK). `user-property set` refuses a name that does not exist.

                EXAMPLES
                  iotctl user-property add front room '"hall"'
                  iotctl user-property add front position '{"x":3,"y":4}'
                """)

        @OptionGroup var target: Target

        @Argument(
            help: ArgumentHelp("JSON text; - reads it from standard input.", valueName: "json"),
            transform: JSONArgument.parse)
        var value: JSONArgument

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let body = try value.read().jsonBytes
            let answer: VersionResponse = try await options.withClient {
                try await $0.call(.POST, target.path, body: body)
            }
            if options.json { return try Console.printJSON(answer) }
            try Console.print("version \(answer.version)")
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replace the value of an existing user property (ProUser).",
            discussion: """
                EXAMPLES
                  iotctl user-property set front room '"kitchen"'
                """)

        @OptionGroup var target: Target

        @Argument(
            help: ArgumentHelp("JSON text; - reads it from standard input.", valueName: "json"),
            transform: JSONArgument.parse)
        var value: JSONArgument

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let body = try value.read().jsonBytes
            let answer: PropertyWriteResponse = try await options.withClient {
                try await $0.call(.PUT, target.path, body: body)
            }
            if options.json { return try Console.printJSON(answer) }
            try Console.print("version \(answer.version)")
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a user property (ProUser).",
            discussion: """
                EXAMPLES
                  iotctl user-property delete front room
                """)

        @OptionGroup var target: Target
        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let answer: VersionResponse = try await options.withClient {
                try await $0.call(.DELETE, target.path, body: nil)
            }
            if options.json { return try Console.printJSON(answer) }
            try Console.print("version \(answer.version)")
        }
    }
}
