import Foundation
import IoTCore

/// Asks a question on the terminal, which is left as it was, however the question ends.
enum Prompt {
    /// A terminal hands over a line of at most this many bytes (N_TTY, tty_ldisc(4)).
    private static let maximumLine = 4096

    /// True when somebody can answer.
    static var isPossible: Bool { isatty(STDIN_FILENO) == 1 }

    /// Reads a line without echo.
    ///
    /// - Throws: `.fileFailed` for a terminal that cannot be read.
    static func secret(_ question: String) throws -> String {
        try ask(question, echoes: false)
    }

    /// - Returns: true for `y` or `yes`; everything else, and the end of input, is a no.
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
            throw IoTError(.invalidParameter, "what was typed is not UTF-8")
        }
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }
}
