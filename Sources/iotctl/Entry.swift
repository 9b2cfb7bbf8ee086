import ArgumentParser
import Foundation
import IoTCore

/// The program: parses, runs, and turns every failure into a message and an exit status.
@main
enum Entry {
    static func main() async {
        // When the reader of a pipe ends (`| head`), the write fails instead of the process, so that other files are
        // finished.
        signal(SIGPIPE, SIG_IGN)
        let arguments = CommandLineArguments(Array(CommandLine.arguments.dropFirst()))
        do {
            try await run(arguments)
        } catch {
            exit(report(error, asJSON: arguments.wantsJSON))
        }
    }

    private static func run(_ arguments: CommandLineArguments) async throws {
        do {
            var command = try await IotctlCommand.asyncParseAsRoot(try arguments.arranged())
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch  where IotctlCommand.exitCode(for: error) == .success {
            // The user asked for help, the version or completions.
            let message = IotctlCommand.fullMessage(for: error)
            if !message.isEmpty { try Console.print(message) }
        }
    }

    /// Prints the error and returns the exit status: 1 the operation failed, 2 wrong usage, 3 the daemon is not
    /// reachable.
    private static func report(_ error: any Error, asJSON: Bool) -> Int32 {
        switch error {
        case let error as IoTError:
            Console.printError(error, asJSON: asJSON)
            return error.code == .daemonUnreachable ? 3 : 1
        case let exit as ExitCode:
            // The command has printed its result.
            return exit.rawValue
        case is ReaderLeft:
            // End like other programs that write to a closed pipe: silently, by the signal.
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
            return 1
        default:
            return UsageReport(error).print(asJSON: asJSON)
        }
    }
}
