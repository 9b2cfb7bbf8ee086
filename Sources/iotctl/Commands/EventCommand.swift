import ArgumentParser
import AsyncHTTPClient
import Foundation
import GatewayAPI
import IoTCore
import NIOHTTP1

struct EventCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "event", abstract: "List, watch and delete the events that devices report.",
        subcommands: [List.self, Watch.self, Delete.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List stored events, the newest first.",
            discussion: """
                EXAMPLES
                  iotctl event list
                  iotctl event list --device front --topic EVENT_CAM/ --since 1d --limit 20
                  iotctl event list --json | jq -r '.events[].topic' | sort | uniq -c
                """, aliases: ["ls"])

        @Option(help: ArgumentHelp("Only events of this device.", valueName: "id"), completion: .devices)
        var device: String?

        @Option(help: ArgumentHelp("Only topics that begin with this.", valueName: "prefix"))
        var topic: String?

        @Option(
            help: ArgumentHelp("Only events newer than this, for example 1h or 7d.", valueName: "time"),
            transform: DurationArgument.parse)
        var since: DurationArgument?

        @Option(help: ArgumentHelp("Only events older than this one, for the next page.", valueName: "event id"))
        var before: String?

        @Option(help: ArgumentHelp("The maximum number of events, up to 200. (default: 50)", valueName: "n"))
        var limit: Int?

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let from = since.map { String(Int64(Date().timeIntervalSince1970 * 1000) - $0.seconds * 1000) }
            let path = APIPath(
                "v1", "device-events",
                query: [
                    "device": device, "topic": topic, "from": from, "before": before, "limit": limit.map(String.init),
                ])
            let isJSON = options.json
            let (list, names) = try await options.withClient { client in
                let list = try await client.get(StoredEventList.self, path)
                return (list, isJSON ? DeviceNames() : await DeviceNames.load(client))
            }
            if isJSON { return try Console.printJSON(list) }
            var table = Table("ID", "TIME", "DEVICE", "TOPIC", "BODY")
            for event in list.events {
                table.append(event.id, Format.time(event.t), names[event.device], event.topic, event.body.jsonText)
            }
            try Console.print(table)
            if list.more, let last = list.events.last { Console.note("more: --before \(last.id)") }
        }
    }

    struct Watch: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print events as they come, until interrupted.",
            discussion: """
                Without --type, only events of devices (event) are printed. If the connection
                breaks, the command reconnects and continues where it stopped.

                EXAMPLES
                  iotctl event watch
                  iotctl event watch --type presence --type link
                  iotctl event watch --device front --json
                """)

        @Option(name: .customLong("type"), help: ArgumentHelp("A kind to print; may be repeated.", valueName: "kind"))
        var types: [GatewayEvent.Kind] = []

        @Option(help: ArgumentHelp("Only events of this device.", valueName: "id"), completion: .devices)
        var device: String?

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let kinds = types.isEmpty ? [GatewayEvent.Kind.event] : types
            let path = APIPath(
                "v1", "events",
                query: ["types": kinds.map(\.rawValue).joined(separator: ","), "device": device])
            let isJSON = options.json
            try await options.withClient { client in
                let names = isJSON ? DeviceNames() : await DeviceNames.load(client)
                var last: String?
                while true {
                    let body = try await client.open(path, resumingBehind: last)
                    do {
                        try await client.forEachEvent(body) { text in
                            last = text.id ?? last
                            if let event = try GatewayEvent(text) { try Self.show(event, names, isJSON: isJSON) }
                            return true
                        }
                    } catch let error as IoTError where error.code == .daemonUnreachable && last != nil {
                        Console.note("the connection was lost; reconnecting")
                    }
                    guard last != nil else { throw IoTError(.daemonUnreachable, "the daemon ended the watch") }
                    try await Task.sleep(for: .milliseconds(500))
                }
            }
        }

        private static func show(_ event: GatewayEvent, _ names: DeviceNames, isJSON: Bool) throws {
            if case .failed(let error) = event { throw error.error }
            let travelling = try event.serverSentEvent
            if isJSON { return try Console.print("{\"type\":\"\(travelling.name)\",\"value\":\(travelling.data)}") }
            let time = Format.time(Int64(Date().timeIntervalSince1970 * 1000))
            try Console.print("\(time)  \(travelling.name)  \(summary(event, names) ?? travelling.data)")
        }

        private static func summary(_ event: GatewayEvent, _ names: DeviceNames) -> String? {
            switch event {
            case .presence(let presence): "\(names[presence.device]) \(presence.online ? "online" : "offline")"
            case .property(let update): "\(names[update.device]) \(update.path) = \(update.value.jsonText)"
            case .event(let event): "\(names[event.device]) \(event.topic) \(event.body.jsonText)"
            case .link(let state): state.name
            case .binding(let change): "\(change.name ?? names[change.device]) \(change.bound ? "bound" : "unbound")"
            case .channel(let change): "\(change.deviceName) \(change.id)\(change.closed ? " closed" : "")"
            case .reset(let reset): "events were missed (\(reset.reason.rawValue)); read the current values again"
            case .data, .failed: nil
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete stored events by their ids, or the older ones of a device.",
            discussion: """
                EXAMPLES
                  iotctl event delete 1024 1025
                  iotctl event delete --device front --older-than 7d --yes
                """, aliases: ["rm"])

        @Argument(help: ArgumentHelp("The ids of events, from event list.", valueName: "event id"))
        var ids: [String] = []

        @Option(help: ArgumentHelp("Delete the events of this device.", valueName: "id"), completion: .devices)
        var device: String?

        @Option(help: ArgumentHelp("Only topics that begin with this.", valueName: "prefix"))
        var topic: String?

        @Option(
            help: ArgumentHelp("Delete events older than this, for example 7d.", valueName: "time"),
            transform: DurationArgument.parse)
        var olderThan: DurationArgument?

        @OptionGroup var confirmation: Confirmation
        @OptionGroup var options: GlobalOptions

        func validate() throws {
            guard ids.isEmpty != (device == nil) else {
                throw ValidationError("give either the ids of events or --device")
            }
            guard device == nil || olderThan != nil else { throw ValidationError("--device needs --older-than") }
        }

        func run() async throws {
            try confirmation.confirm(
                ids.isEmpty
                    ? "delete the older events of the device '\(device ?? "")'" : "delete \(ids.count) stored events")
            let now = Int64(Date().timeIntervalSince1970 * 1000)
            let request = StoredEventDeletion(
                ids: ids.isEmpty ? nil : ids, device: device, topic: topic,
                before: olderThan.map { now - $0.seconds * 1000 })
            let answer: StoredEventDeletionResponse = try await options.withClient {
                try await $0.call(.DELETE, APIPath("v1", "device-events"), request)
            }
            if options.json { return try Console.printJSON(answer) }
            try Console.print("deleted \(answer.deleted)")
        }
    }
}
