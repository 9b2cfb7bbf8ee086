import Foundation
import GatewayAPI
import IoTCore
import Synchronization

/// What goes to standard output and standard error.
enum Console {
    /// True while a line of progress stands on the terminal without its end.
    private static let isLineOpen = Mutex(false)

    /// True when standard error is a terminal, so that a line may be redrawn.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// The columns of the terminal that standard output is; `nil` for a file or a pipe.
    static var width: Int? {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// To standard output.
    ///
    /// - Throws: `ReaderLeft` for a closed pipe; `.fileFailed`, for example on a full disk.
    static func print(_ text: String) throws {
        try print(Data(text.utf8))
    }

    /// Bytes as they are, and a newline.
    static func print(_ bytes: Data) throws {
        endLine()
        try DescriptorWriting.write(Array(bytes) + [0x0A], to: STDOUT_FILENO, name: "standard output")
    }

    /// A table as wide as the terminal, or as it is in a file or a pipe.
    static func print(_ table: Table) throws {
        try print(table.text(width: width))
    }

    /// To standard error. What cannot be written there can be told nowhere.
    static func note(_ text: String) {
        endLine()
        try? DescriptorWriting.write(Array((text + "\n").utf8), to: STDERR_FILENO, name: "standard error")
    }

    /// One line of progress on standard error, in place of the one before; an empty one takes it away.
    static func redraw(_ text: String) {
        isLineOpen.withLock { $0 = !text.isEmpty }
        try? DescriptorWriting.write(Array(("\r\u{1B}[K" + text).utf8), to: STDERR_FILENO, name: "standard error")
    }

    /// Takes away a line of progress that what comes next would be glued to.
    private static func endLine() {
        if isLineOpen.withLock({ $0 }) { redraw("") }
    }

    /// Indented JSON of an answer, with names in order.
    static func printJSON(_ value: some Encodable) throws {
        try print(try json(value).prettyText)
    }

    /// One line of JSON, for streams.
    static func printJSONLine(_ value: some Encodable) throws {
        try print(String(decoding: try APICoding.encode(value), as: UTF8.self))
    }

    static func json(_ value: some Encodable) throws -> JSONValue {
        try JSONValue(parsing: try APICoding.encode(value))
    }

    /// - Parameter asJSON: one line with one object.
    static func printError(_ error: IoTError, asJSON: Bool = false) {
        if asJSON, let bytes = try? APICoding.encode(APIError(error)) {
            return note(String(decoding: bytes, as: UTF8.self))
        }
        note("error \(error.description)")
        note("  \(error.remedy)")
    }
}
