import Foundation
import IoTCore

/// Asks a question on the terminal. The terminal's settings are always restored.
enum Prompt {
    /// The longest line that a terminal delivers, in bytes (canonical mode, termios(3)).
    private static let maximumLine = 4096

    /// True if standard input is a terminal, so that a user can answer.
    static var isPossible: Bool { isatty(STDIN_FILENO) == 1 }

    /// Reads a line without echo.
    ///
    /// - Throws: `.fileFailed` if the terminal cannot be read.
    static func secret(_ question: String) throws -> String {
        try ask(question, echoes: false)
    }

    /// - Returns: true for `y` or `yes`; false for everything else, including the end of input.
    static func confirm(_ question: String) throws -> Bool {
        let answer = try ask(question + " [y/N] ", echoes: true)
        return ["y", "yes"].contains(answer.trimmingCharacters(in: .whitespacesAndNewlines).lowercased())
    }

    private static func ask(_ question: String, echoes: Bool) throws -> String {
        let terminal = try PromptTerminal(question: question, echoes: echoes)
        defer { terminal.restore() }
        var line: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: maximumLine)
        while line.last != UInt8(ascii: "\n"), line.count <= maximumLine {
            let count = read(STDIN_FILENO, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw IoTError(.fileFailed, "the terminal cannot be read: \(String(cString: strerror(errno)))")
            }
            if count == 0 { break }
            line += chunk[..<count]
        }
        guard let text = String(validating: line, as: UTF8.self) else {
            throw IoTError(.invalidParameter, "the input is not UTF-8")
        }
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }
}
