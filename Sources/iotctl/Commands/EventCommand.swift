import ArgumentParser
import AsyncHTTPClient
import Foundation
import GatewayAPI
import IoTCore
import NIOHTTP1

struct EventCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "event", abstract: "List, watch and delete what devices report.",
        subcommands: [List.self, Watch.self, Delete.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List stored events, the newest first.",
            discussion: """
                EXAMPLES
                  iotctl event list
                  iotctl event list --device front --topic EVENT_CAM/ --since 1d --limit 20
                  iotctl event list --json | jq -r '.events[].topic' | sort | uniq -c
                """)

        @Option(help: ArgumentHelp("Of this device only.", valueName: "id"))
        var device: String?

        @Option(help: ArgumentHelp("Topics that begin with this.", valueName: "prefix"))
        var topic: String?

        @Option(help: ArgumentHelp("Not older than this.", valueName: "time"), transform: DurationArgument.parse)
        var since: DurationArgument?

        @Option(help: ArgumentHelp("Behind this event, for the next page.", valueName: "event id"))
        var before: String?

        @Option(help: ArgumentHelp("At most this many, up to 200.", valueName: "n"))
        var limit: Int?

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let from = since.map { String(Int64(Date().timeIntervalSince1970 * 1000) - $0.seconds * 1000) }
            let path = APIPath(
                "v1", "device-events",
                query: [
                    "device": device, "topic": topic, "from": from, "before": before, "limit": limit.map(String.init),
                ])
            let list = try await options.withClient { try await $0.get(StoredEventList.self, path) }
            if options.json { return try Console.printJSON(list) }
            var table = Table("ID", "TIME", "DEVICE", "TOPIC", "BODY")
            for event in list.events {
                table.append(event.id, Format.time(event.t), event.device, event.topic, event.body.jsonText)
            }
            Console.print(table.text)
            if list.more, let last = list.events.last { Console.note("more: --before \(last.id)") }
        }
    }

    struct Watch: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print what happens as it comes, until interrupted.",
            discussion: """
                The kinds are link, presence, property, event, data, binding and channel;
                devices' events alone unless told. A break of the connection is taken up where
                it was.

                EXAMPLES
                  iotctl event watch
                  iotctl event watch --type presence --type link
                  iotctl event watch --device front --json
                """)

        @Option(name: .customLong("type"), help: ArgumentHelp("May be repeated.", valueName: "kind"))
        var types: [GatewayEvent.Kind] = []

        @Option(help: ArgumentHelp("Of this device only.", valueName: "id"))
        var device: String?

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let kinds = types.isEmpty ? [GatewayEvent.Kind.event] : types
            let path = APIPath(
                "v1", "events",
                query: ["types": kinds.map(\.rawValue).joined(separator: ","), "device": device])
            let isJSON = options.json
            try await options.withClient { client in
                var last: String?
                while true {
                    let body = try await client.open(path, resumingBehind: last)
                    do {
                        try await client.forEachEvent(body) { text in
                            last = text.id ?? last
                            if let event = try GatewayEvent(text) { try Self.show(event, isJSON: isJSON) }
                            return true
                        }
                    } catch let error as IoTError where error.code == .daemonUnreachable && last != nil {
                        Console.note("the connection broke; going on where it was")
                    }
                    guard last != nil else { throw IoTError(.daemonUnreachable, "the daemon ended the watch") }
                    try await Task.sleep(for: .milliseconds(500))
                }
            }
        }

        private static func show(_ event: GatewayEvent, isJSON: Bool) throws {
            if case .failed(let error) = event { throw error.error }
            let travelling = try event.serverSentEvent
            if isJSON { return Console.print("{\"type\":\"\(travelling.name)\",\"value\":\(travelling.data)}") }
            let time = Format.time(Int64(Date().timeIntervalSince1970 * 1000))
            Console.print("\(time)  \(travelling.name)  \(summary(event) ?? travelling.data)")
        }

        private static func summary(_ event: GatewayEvent) -> String? {
            switch event {
            case .presence(let presence): "\(presence.device) \(presence.online ? "online" : "offline")"
            case .property(let update): "\(update.device) \(update.path) = \(update.value.jsonText)"
            case .event(let event): "\(event.device) \(event.topic) \(event.body.jsonText)"
            case .link(let state): state.name
            case .binding(let change): "\(change.device) \(change.bound ? "bound" : "unbound")"
            case .channel(let change): "\(change.deviceName) \(change.id)\(change.closed ? " closed" : "")"
            case .reset(let reset): "events were missed (\(reset.reason.rawValue)); read again what matters"
            case .data, .failed: nil
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete stored events: some by id, or a device's older ones.",
            discussion: """
                EXAMPLES
                  iotctl event delete 1024 1025
                  iotctl event delete --device front --older-than 7d
                """)

        @Argument(help: ArgumentHelp("Events' ids.", valueName: "event id"))
        var ids: [String] = []

        @Option(help: ArgumentHelp("This device's.", valueName: "id"))
        var device: String?

        @Option(help: ArgumentHelp("Topics that begin with this.", valueName: "prefix"))
        var topic: String?

        @Option(help: ArgumentHelp("What is older.", valueName: "time"), transform: DurationArgument.parse)
        var olderThan: DurationArgument?

        @OptionGroup var options: GlobalOptions

        func validate() throws {
            guard ids.isEmpty != (device == nil) else { throw ValidationError("name events' ids, or --device") }
            guard device == nil || olderThan != nil else { throw ValidationError("--device needs --older-than") }
        }

        func run() async throws {
            let now = Int64(Date().timeIntervalSince1970 * 1000)
            let request = StoredEventDeletion(
                ids: ids.isEmpty ? nil : ids, device: device, topic: topic,
                before: olderThan.map { now - $0.seconds * 1000 })
            let answer: StoredEventDeletionResponse = try await options.withClient {
                try await $0.call(.DELETE, APIPath("v1", "device-events"), request)
            }
            if options.json { return try Console.printJSON(answer) }
            Console.print("deleted \(answer.deleted)")
        }
    }
}
