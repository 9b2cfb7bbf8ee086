import Foundation
import Testing

/// Runs a program on its own terminal.
struct Terminal {
    enum Step {
        case expect(String)
        case type(String)
        case signal(String)
        /// Waits until the terminal's echo is on or off.
        case echo(Bool)

        fileprivate var words: [Any] {
            switch self {
            case .expect(let text): ["expect", text]
            case .type(let text): ["type", text]
            case .signal(let name): ["signal", name]
            case .echo(let echoes): ["echo", echoes]
            }
        }
    }

    struct Outcome: Decodable {
        let output: String
        /// `nil` when a signal ended it.
        let status: Int32?
        let signal: Int32?
        /// Whether the terminal echoes afterwards.
        let echo: Bool
    }

    var environment: [String: String] = [:]
    var columns = 80

    /// `iotctl` with these arguments.
    func iotctl(_ arguments: String..., steps: [Step] = []) async throws -> Outcome {
        try await iotctl(arguments, steps: steps)
    }

    func iotctl(_ arguments: [String], steps: [Step] = []) async throws -> Outcome {
        let plan: [String: Any] = [
            "command": [Product.program("iotctl")] + arguments, "columns": columns, "steps": steps.map(\.words),
        ]
        var program = Program.named("python3", [Product.root.appendingPathComponent("Tests/terminal/terminal.py").path])
        program.environment = environment
        program.input = try JSONSerialization.data(withJSONObject: plan)
        let outcome = try await program.run()
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(Outcome.self, from: outcome.output)
    }
}

extension RunningDaemon {
    /// A terminal in which programs find this daemon.
    func terminal(columns: Int = 80) -> Terminal {
        Terminal(environment: ["IOTCTL_SOCKET": folder.path("socket")], columns: columns)
    }
}
