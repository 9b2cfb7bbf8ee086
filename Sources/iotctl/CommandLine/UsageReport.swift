import ArgumentParser
import IoTCore

/// The report of a command line that the parser refused.
struct UsageReport {
    private let text: String
    private let failure: IoTError
    private let status: Int32

    init(_ error: any Error) {
        if let unknown = error as? UnknownCommand {
            let path = unknown.path.joined(separator: " ")
            text = "Error: \(unknown.message)\nUsage: \(path) <subcommand>\n  `\(unknown.help)` lists the commands."
            failure = IoTError(
                .invalidParameter, unknown.message, remedy: "`\(unknown.help)` lists the commands")
            status = 2
            return
        }
        text = IotctlCommand.fullMessage(for: error)
        failure = IoTError(
            .invalidParameter, IotctlCommand.message(for: error), remedy: Self.remedy(text))
        // The parser's own status for wrong usage is EX_USAGE, 64.
        status = IotctlCommand.exitCode(for: error) == .validationFailure ? 2 : 1
    }

    /// The parser's last line: `  See 'iotctl device list --help' for more information.`
    private static func remedy(_ text: String) -> String {
        let parts = (text.split(separator: "\n").last ?? "").split(separator: "'")
        return parts.count == 3 ? "`\(parts[1])` prints the usage" : "`iotctl --help` prints the usage"
    }

    /// - Returns: the exit status.
    func print(asJSON: Bool) -> Int32 {
        if asJSON {
            Console.printError(failure, asJSON: true)
        } else if !text.isEmpty {
            Console.note(text)
        }
        return status
    }
}
