import Foundation
import GatewayAPI
import IoTCore
import Synchronization

/// Writes to standard output and standard error.
enum Console {
    /// True while the terminal shows a progress line without a newline.
    private static let isLineOpen = Mutex(false)

    /// True when standard error is a terminal, so that a line may be redrawn.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// The columns of the terminal if standard output is one; `nil` for a file or a pipe.
    static var width: Int? {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Prints to standard output.
    ///
    /// - Throws: `ReaderLeft` for a closed pipe; `.fileFailed`, for example on a full disk.
    static func print(_ text: String) throws {
        try print(Data(text.utf8))
    }

    /// Prints bytes unchanged, and a newline.
    static func print(_ bytes: Data) throws {
        endLine()
        try DescriptorWriting.write(Array(bytes) + [0x0A], to: STDOUT_FILENO, name: "standard output")
    }

    /// Prints a table. It is shortened to the width of a terminal, but not in a file or a pipe.
    static func print(_ table: Table) throws {
        try print(table.text(width: width))
    }

    /// Prints to standard error. Errors are ignored, because they cannot be reported anywhere.
    static func note(_ text: String) {
        endLine()
        try? DescriptorWriting.write(Array((text + "\n").utf8), to: STDERR_FILENO, name: "standard error")
    }

    /// Replaces the progress line on standard error; an empty text removes it.
    static func redraw(_ text: String) {
        isLineOpen.withLock { $0 = !text.isEmpty }
        try? DescriptorWriting.write(Array(("\r\u{1B}[K" + text).utf8), to: STDERR_FILENO, name: "standard error")
    }

    /// Removes the progress line before other output, which would otherwise follow on the same line.
    private static func endLine() {
        if isLineOpen.withLock({ $0 }) { redraw("") }
    }

    /// Prints a response as indented JSON, with names in order.
    static func printJSON(_ value: some Encodable) throws {
        try print(try json(value).prettyText)
    }

    /// Prints one line of JSON, for streams.
    static func printJSONLine(_ value: some Encodable) throws {
        try print(String(decoding: try APICoding.encode(value), as: UTF8.self))
    }

    static func json(_ value: some Encodable) throws -> JSONValue {
        try JSONValue(parsing: try APICoding.encode(value))
    }

    /// - Parameter asJSON: prints one JSON object on one line.
    static func printError(_ error: IoTError, asJSON: Bool = false) {
        if asJSON, let bytes = try? APICoding.encode(APIError(error)) {
            return note(String(decoding: bytes, as: UTF8.self))
        }
        note("error \(error.description)")
        note("  \(error.remedy)")
    }
}
