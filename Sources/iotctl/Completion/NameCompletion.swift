import ArgumentParser
import Foundation
import IoTCore

/// Asks the daemon for names while a shell completes a word.
struct NameCompletion: Sendable {
    /// Short, because the user waits for the completion.
    private static let patience = Duration.seconds(1)

    /// The words of the command line so far, including the program's name.
    let words: [String]

    /// - Returns: an empty list if the daemon is unreachable, refuses, or takes longer than a second.
    func names(_ ask: @escaping @Sendable (GatewayClient) async throws -> [String]) async -> [String] {
        await withTaskGroup(of: [String]?.self) { group in
            group.addTask { [self] in (try? await options.withClient(ask)) ?? [] }
            group.addTask {
                try? await Task.sleep(for: Self.patience)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first ?? []
        }
    }

    /// The options of the command line that select the daemon. The user is never asked on the terminal, so a token from
    /// standard input or an unknown certificate gives no names.
    var options: GlobalOptions {
        get throws {
            let given = ["--socket", "--url", "--token-file", "--ca"].flatMap { name in
                value(of: name).map { [name, $0] } ?? []
            }
            let environment = ProcessInfo.processInfo.environment
            guard (value(of: "--token-file") ?? environment["IOTCTL_TOKEN_FILE"]) != "-" else {
                throw IoTError(.invalidParameter)
            }
            var options = try GlobalOptions.parse(given)
            options.isInteractive = false
            return options
        }
    }

    private func value(of option: String) -> String? {
        for (index, word) in words.enumerated().reversed() {
            if word.hasPrefix(option + "=") { return String(word.dropFirst(option.count + 1)) }
            if word == option, words.indices.contains(index + 1) { return words[index + 1] }
        }
        return nil
    }
}
