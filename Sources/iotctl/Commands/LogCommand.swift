import ArgumentParser
import GatewayAPI
import IoTCore

struct LogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Print the daemon's log.",
        discussion: """
            Prints the newest lines, at most 1,000; with --follow also those that are
            written later, until interrupted. Lines below log.level do not exist. Needs
            an administrator's token, or the daemon's socket.

            EXAMPLES
              iotctl log --level warning
              iotctl log --follow --channel 3
              iotctl log --json | jq -r .message
            """)

    @Flag(help: "Continue with the lines that are written later.")
    var follow = false

    @Option(
        help: ArgumentHelp(
            "Only lines of this level and of more important ones: \(LogLine.levels.joined(separator: ", ")).",
            valueName: "level"))
    var level: String?

    @Option(
        help: ArgumentHelp(
            "Only lines about this channel: its id or its number, or the id of a browser's call (viewer.session).",
            valueName: "channel"))
    var channel: String?

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        guard level.map(LogLine.levels.contains) ?? true else {
            throw ValidationError("--level must be one of \(LogLine.levels.joined(separator: ", "))")
        }
    }

    func run() async throws {
        try await options.withClient { client in
            let path = APIPath(
                "v1", "logs", query: ["level": level, "channel": channel, "follow": follow ? "true" : "false"])
            let body = try await client.open(path)
            try await client.forEachEvent(body) { event in
                guard let entry = try LogEntry(event) else { return true }
                return try show(entry)
            }
        }
    }

    /// - Returns: false at the end.
    private func show(_ entry: LogEntry) throws -> Bool {
        switch entry {
        case .line(let line):
            if options.json {
                try Console.print(String(decoding: try APICoding.encode(line), as: UTF8.self))
            } else {
                try Console.print("\(Format.time(line.t)) \(line.text)")
            }
        case .lost(let lost): Console.note("\(lost.lines) lines are missing here")
        case .failed(let error): throw error.error
        case .end: return false
        }
        return true
    }
}
