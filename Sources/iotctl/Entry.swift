import ArgumentParser
import Foundation
import IoTCore

/// The program: parses, runs, and turns every failure into a message and an exit status.
@main
enum Entry {
    static func main() async {
        // A reader that leaves (`| head`) is a failed write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        do {
            var command = try IotctlCommand.parseAsRoot(
                JSONArgument.protectNegativeNumbers(Array(CommandLine.arguments.dropFirst())))
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            exit(report(error))
        }
    }

    /// Prints the failure and gives the exit status: 0 success (help was asked for), 1 the operation failed, 2 wrong
    /// usage, 3 the daemon is not reachable.
    private static func report(_ error: any Error) -> Int32 {
        if let error = error as? IoTError {
            Console.printError(error)
            return error.code == .daemonUnreachable ? 3 : 1
        }
        if let silent = error as? SilentFailure { return silent.status }
        let status = IotctlCommand.exitCode(for: error)
        let message = IotctlCommand.fullMessage(for: error)
        if status == .success {
            if !message.isEmpty { Console.print(message) }
            return 0
        }
        if !message.isEmpty { Console.note(message) }
        // ArgumentParser's own status for wrong usage is EX_USAGE, 64.
        return status == .validationFailure ? 2 : 1
    }
}

/// A failure that has been told already.
struct SilentFailure: Error {
    var status: Int32 = 1
}
