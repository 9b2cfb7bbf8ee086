import ArgumentParser
import GatewayAPI
import NIOHTTP1

struct NoticeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notice", abstract: "Get a webhook called when a device goes offline or online.",
        subcommands: [Show.self, Set.self, Remove.self])

    private static let path = APIPath("v1", "notices")

    private static func show(_ notices: NoticeDescription, _ options: GlobalOptions) throws {
        if options.json { return try Console.printJSON(notices) }
        try Console.print(
            Table.pairs([
                ("url", notices.url), ("sent", "\(notices.sent)"), ("failed", "\(notices.failed)"),
                ("dropped", "\(notices.dropped)"), ("failure", notices.failure.map { "\($0.error)" } ?? "-"),
            ]))
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show your account's webhook, and what became of its notices.",
            discussion: """
                The numbers count since the daemon's start.

                EXAMPLES
                  iotctl notice show
                """)

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let notices = try await options.withClient { try await $0.get(NoticeDescription.self, NoticeCommand.path) }
            try NoticeCommand.show(notices, options)
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set your account's webhook.",
            discussion: """
                The gateway sends a POST with JSON each time that a device that you may view
                goes offline or online:
                {"event":"offline","device":"…","name":"front","account":"bob",
                "t":1795564800000}. A device's notices are off until its user property
                almEvtPushEna is not 0. The URL may contain a secret of the receiver. It must
                not lead to this machine, and to a private network only for an administrator.

                EXAMPLES
                  iotctl notice set https://receiver.example/iot?key=SECRET
                  iotctl property write front ProUser._buildIn.val.almEvtPushEna 1
                """)

        @Argument(help: "http://… or https://…, at most 512 characters.")
        var url: String

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let notices: NoticeDescription = try await options.withClient {
                try await $0.call(.PUT, NoticeCommand.path, NoticeRequest(url: url))
            }
            try NoticeCommand.show(notices, options)
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove your account's webhook.",
            discussion: """
                EXAMPLES
                  iotctl notice remove
                """)

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let answer: EmptyResponse = try await options.withClient {
                try await $0.call(.DELETE, NoticeCommand.path, body: nil)
            }
            if options.json { try Console.printJSON(answer) }
        }
    }
}
