import Foundation
import GatewayAPI
import IoTCore

/// What goes to standard output and standard error.
enum Console {
    /// True when standard error is a terminal, so that a line may be redrawn.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    static func print(_ text: String) {
        write(text + "\n", to: .standardOutput)
    }

    /// Bytes as they are, and a newline.
    static func print(_ bytes: Data) {
        try? FileHandle.standardOutput.write(contentsOf: bytes + [0x0A])
    }

    /// To standard error.
    static func note(_ text: String) {
        write(text + "\n", to: .standardError)
    }

    /// To standard error, without a newline.
    static func redraw(_ text: String) {
        write("\r\u{1B}[K" + text, to: .standardError)
    }

    /// Indented JSON of an answer, with names in order.
    static func printJSON(_ value: some Encodable) throws {
        print(try json(value).prettyText)
    }

    /// One line of JSON, for streams.
    static func printJSONLine(_ value: some Encodable) throws {
        print(String(decoding: try APICoding.encode(value), as: UTF8.self))
    }

    static func json(_ value: some Encodable) throws -> JSONValue {
        try JSONValue(parsing: try APICoding.encode(value))
    }

    static func printError(_ error: IoTError) {
        note("error \(error.description)")
        note("  \(error.remedy)")
    }

    private static func write(_ text: String, to handle: FileHandle) {
        // A closed pipe is no reason to fail: nobody reads the rest.
        try? handle.write(contentsOf: Data(text.utf8))
    }
}
