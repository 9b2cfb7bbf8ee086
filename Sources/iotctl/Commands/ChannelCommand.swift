import ArgumentParser
import Foundation
import GatewayAPI
import IoTCore
import NIOHTTP1

struct ChannelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel", abstract: "Open channels to devices, and exchange bytes with a device's program.",
        discussion: """
            A channel is encrypted from here to the device; its data do not pass through the
            hub. The account needs the action 'control'. At the other end, the program
            beside the camera takes and answers them: 'iotctl camera data'. Without one,
            error 25057.
            """,
        subcommands: [Open.self, List.self, Send.self, Listen.self, Close.self])

    struct Open: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Open a channel and print its id.",
            discussion: """
                The channel stays open while something uses it, and for channels.idleTimeout
                (30s) after that.

                EXAMPLES
                  id=$(iotctl channel open front)
                  iotctl channel send $id hello
                  iotctl channel close $id
                """)

        enum Kind: String, ExpressibleByArgument, CaseIterable {
            case transmission, monitor, live

            var channelKind: ChannelKind {
                switch self {
                case .transmission: .transmission
                case .monitor: .monitor
                case .live: .live
                }
            }
        }

        @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
        var device: String

        @Option(
            help: ArgumentHelp("transmission (data alone), monitor or live. (default: transmission)", valueName: "kind")
        )
        var kind: Kind?

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let request = ChannelRequest(device: device, kind: (kind ?? .transmission).channelKind)
            let channel = try await options.withClient { client -> ChannelDescription in
                try await client.call(.POST, APIPath("v1", "channels"), request)
            }
            if options.json { return try Console.printJSON(channel) }
            try Console.print(channel.id)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List your open channels.",
            discussion: """
                EXAMPLES
                  iotctl channel list
                  iotctl channel list --json | jq -r '.channels[].id'
                """, aliases: ["ls"])

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let list = try await options.withClient { try await $0.get(ChannelList.self, APIPath("v1", "channels")) }
            if options.json { return try Console.printJSON(list) }
            var table = Table("ID", "DEVICE", "KIND", "CONNECTION", "PLAYER")
            for channel in list.channels {
                table.append(
                    channel.id, channel.deviceName, channel.kind, channel.state.connection.name,
                    channel.state.player.name)
            }
            try Console.print(table)
        }
    }

    struct Send: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send bytes over a channel, and print the answers.",
            discussion: """
                At most 64,000 bytes. Without --responses nobody answers; the command ends when
                the channel has taken the message. Requests of a channel are answered one after
                the other. Answers go to standard output as they are, each followed by a
                newline; --json prints them in base64. With --lines, each line of standard input
                is a message; they are sent while they come, as fast as the other end takes
                them.

                EXAMPLES
                  iotctl channel send front hello
                  iotctl channel send front - --responses many --timeout 1m < query.bin
                  sensors | iotctl channel send front - --lines
                """)

        @Argument(help: ChannelTarget.help, completion: .devices)
        var channel: String

        @Argument(help: "The bytes as text; - reads them from standard input.")
        var data: String

        @Option(help: "How many answers to wait for. (default: none)")
        var responses: MessageResponses?

        @Option(
            help: ArgumentHelp("How long to wait. (default: 10s)", valueName: "time"),
            transform: DurationArgument.parse)
        var timeout = DurationArgument(.seconds(10))

        @Flag(help: "Each line of standard input is a message.")
        var lines = false

        @Flag(help: "The bytes are given as hexadecimal digits.")
        var hex = false

        @OptionGroup var options: GlobalOptions

        func validate() throws {
            if lines, data != "-" || responses != nil || hex {
                throw ValidationError(
                    "--lines sends messages from standard input: give - as the data, and no other option")
            }
            if hex, data != "-", Hex.decode(data) == nil { throw ValidationError("'\(data)' is not hexadecimal") }
        }

        func run() async throws {
            if lines { return try await sendLines() }
            let bytes = try SentBytes(data, isHexadecimal: hex).read(atMost: DataRequest.maximumSize)
            guard bytes.count <= DataRequest.maximumSize else {
                throw IoTError(
                    .dataTooLong, "data of a channel have at most \(DataRequest.maximumSize) bytes, not \(bytes.count)")
            }
            let request = DataRequest(
                data: Data(bytes).base64EncodedString(), responses: responses,
                timeoutMilliseconds: timeout.milliseconds)
            let patience = timeout.duration + .seconds(20)
            let isJSON = options.json
            try await ChannelTarget(channel).use(options) { client, id in
                let path = APIPath("v1", "channels", id, "data")
                if request.responses == .many {
                    let body = try await client.events(path, request, timeout: patience)
                    return try await ReceivedBytes(isJSON: isJSON).follow(body, client)
                }
                let answer: MessageResponse = try await client.call(.POST, path, request, timeout: patience)
                if isJSON { return try Console.printJSON(answer) }
                for response in answer.responses { try ReceivedBytes(isJSON: false).show(response) }
            }
        }

        private func sendLines() async throws {
            let messages = LineMessages(chunks: try FileChunks(path: "-"))
            let isJSON = options.json
            try await ChannelTarget(channel).use(options) { client, id in
                let report = try await client.upload(
                    DataReport.self, APIPath("v1", "channels", id, "data", "stream"), messages)
                if isJSON { return try Console.printJSON(report) }
                Console.note("\(report.messages) messages, \(report.bytes) bytes")
            }
        }
    }

    struct Listen: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the messages of a device's program, until interrupted.",
            discussion: """
                Each message goes to standard output as it is, followed by a newline; --json
                prints it in base64. A reader that is slow slows the program down; nothing is
                lost.

                EXAMPLES
                  iotctl channel listen front
                  iotctl channel listen front --count 1 > answer.bin
                """)

        @Argument(help: ChannelTarget.help, completion: .devices)
        var channel: String

        @Option(help: ArgumentHelp("End after this number of messages.", valueName: "n"))
        var count: Int?

        @OptionGroup var options: GlobalOptions

        func validate() throws {
            if let count, count < 1 { throw ValidationError("--count must be at least 1") }
        }

        func run() async throws {
            let (isJSON, limit) = (options.json, count)
            try await ChannelTarget(channel).use(options) { client, id in
                let body = try await client.open(APIPath("v1", "channels", id, "data"))
                var received = 0
                try await client.forEachEvent(body) { text in
                    switch try ChannelDataEvent(text) {
                    case .message(let data)?:
                        try ReceivedBytes(isJSON: isJSON).show(data)
                        received += 1
                        return received != limit
                    case .failed(let error)?: throw error.error
                    case .end?: return false
                    case nil: return true
                    }
                }
            }
        }
    }

    struct Close: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Close a channel.",
            discussion: """
                EXAMPLES
                  iotctl channel close 5f0c2f5be1a96d3c
                """)

        @Argument(help: ArgumentHelp("The channel's id.", valueName: "channel"))
        var channel: String

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let description = try await options.withClient { client -> ChannelDescription in
                try await client.call(.DELETE, APIPath("v1", "channels", channel), body: nil)
            }
            if options.json { try Console.printJSON(description) }
        }
    }
}
