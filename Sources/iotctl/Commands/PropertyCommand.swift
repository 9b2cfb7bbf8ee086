import ArgumentParser
import GatewayAPI
import IoTCore
import NIOHTTP1

struct PropertyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "property", abstract: "Read, write and watch a device's thing model.",
        subcommands: [Read.self, Write.self, Watch.self])

    struct Read: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the value at a path, or the whole model.",
            discussion: """
                Works while the device is offline: the hub stores the model.

                EXAMPLES
                  iotctl property read front
                  iotctl property read front ProReadonly
                  iotctl property read front ProWritable._logLevel.setVal
                  iotctl property read --all ProReadonly._online.stVal
                """)

        @Argument(
            help: ArgumentHelp("The device's id or name; not with --all, which takes only PATH.", valueName: "id"),
            completion: .devices)
        var device: String?

        @Argument(help: "The path, for example ProWritable._logLevel.setVal; without it, the whole model.")
        var path: String?

        @Flag(help: "Read the path of every device of the account.")
        var all = false

        @OptionGroup var options: GlobalOptions

        func validate() throws {
            if all, path != nil { throw ValidationError("--all takes a path and no device") }
            if !all, device == nil { throw ValidationError("name a device, or --all") }
        }

        func run() async throws {
            if all { return try await readAll(device ?? "") }
            let device = device ?? ""
            let path = path ?? ""
            let answer = try await options.withClient {
                try await $0.get(
                    PropertyResponse.self, APIPath("v1", "devices", device, "properties", query: ["path": path]))
            }
            if options.json { return try Console.printJSON(answer) }
            try Console.print(answer.value.prettyText)
        }

        private func readAll(_ path: String) async throws {
            let list = try await options.withClient {
                try await $0.get(PropertyReadings.self, APIPath("v1", "properties", query: ["path": path]))
            }
            if options.json { return try Console.printJSON(list) }
            var table = Table("NAME", "VALUE", "VERSION")
            for reading in list.readings {
                let value = reading.error.map { "error \($0.code) \($0.name)" } ?? reading.value.jsonText
                table.append(reading.name ?? reading.device, value, reading.version.map(String.init) ?? "-")
            }
            try Console.print(table)
        }
    }

    struct Write: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replace the value at a path.",
            discussion: """
                An offline device gets the value at its next login. With --wait, the command
                ends when the device has applied it. It fails with 21002 after --timeout, but
                the value stays written.

                EXAMPLES
                  iotctl property write front ProWritable._logLevel.setVal 3
                  iotctl property write front ProUser._buildIn.val.nickName '"Front door"'
                  iotctl property write front ProWritable.recordPlan.setVal - < plan.json
                  iotctl property write front ProWritable._logLevel.setVal 4 --if-version 12
                  iotctl property write front ProWritable._logLevel.setVal 4 --wait
                """)

        @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
        var device: String

        @Argument(help: "The path, for example ProWritable._logLevel.setVal.")
        var path: String

        @Argument(
            help: ArgumentHelp("JSON text; - reads it from standard input.", valueName: "json"),
            transform: JSONArgument.parse)
        var value: JSONArgument

        @Option(help: ArgumentHelp("Write only if the property still has this version.", valueName: "n"))
        var ifVersion: Int64?

        @Flag(help: "Wait until the device has applied the value.")
        var wait = false

        @Option(
            help: ArgumentHelp("How long to wait. (default: 10s)", valueName: "time"),
            transform: DurationArgument.parse)
        var timeout: DurationArgument?

        @OptionGroup var options: GlobalOptions

        func validate() throws {
            guard wait || timeout == nil else { throw ValidationError("--timeout requires --wait") }
        }

        func run() async throws {
            let value = try value.read()
            let target = APIPath(
                "v1", "devices", device, "properties",
                query: ["path": path, "ifVersion": ifVersion.map { String($0) }])
            let limit = wait ? timeout?.duration ?? .seconds(10) : nil
            let answer: PropertyWriteResponse = try await options.withClient { client in
                var answer: PropertyWriteResponse = try await client.call(
                    .PUT, target, body: value.jsonBytes)
                if answer.pending, let limit {
                    try await PendingWrite(device: device, path: path, version: answer.version)
                        .wait(atMost: limit, client)
                    answer.pending = false
                }
                return answer
            }
            if options.json { return try Console.printJSON(answer) }
            try Console.print(
                "version \(answer.version)\(answer.pending ? ", pending: the device has not applied it yet" : "")")
        }
    }

    struct Watch: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print changes as they come, until interrupted.",
            discussion: """
                The first line is the current value.

                EXAMPLES
                  iotctl property watch front
                  iotctl property watch front ProReadonly --json
                """)

        @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
        var device: String

        @Argument(help: "Print only changes below this path.")
        var path: String = ""

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let target = APIPath("v1", "devices", device, "properties", "watch", query: ["path": path])
            let isJSON = options.json
            try await options.withClient { client in
                try await client.forEachEvent(try await client.open(target)) { text in
                    guard let event = try DeviceEvent(text) else { return true }
                    try Self.show(event, isJSON: isJSON)
                    return true
                }
            }
            throw IoTError(.daemonUnreachable, "the daemon ended the watch")
        }

        private static func show(_ event: DeviceEvent, isJSON: Bool) throws {
            switch event {
            case .update(let update):
                if isJSON { return try Console.printJSONLine(update) }
                let name = update.path.isEmpty ? "model" : update.path
                try Console.print("\(name) = \(update.value.jsonText)  (version \(update.version))")
            case .presence(let presence):
                if isJSON { return try Console.printJSONLine(presence) }
                try Console.print("device is \(presence.online ? "online" : "offline")")
            case .failed(let error):
                throw error.error
            }
        }
    }
}
