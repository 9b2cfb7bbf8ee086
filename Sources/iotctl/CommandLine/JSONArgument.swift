import ArgumentParser
import Foundation
import IoTCore

/// A JSON value from the command line.
enum JSONArgument: Sendable {
    case value(JSONValue)
    case standardInput

    /// The largest value that is read from standard input, in bytes. The daemon has the same limit.
    private static let maximumSize = 256 * 1024

    /// - Parameter text: JSON text, or `-` for standard input.
    /// - Throws: `ValidationError` with a hint for a bare word.
    static func parse(_ text: String) throws -> JSONArgument {
        if text == "-" { return .standardInput }
        do {
            return .value(try JSONValue(parsing: text))
        } catch {
            throw ValidationError("not valid JSON: \(error)\(hint(text))")
        }
    }

    /// How to write the text as a JSON string in a shell. Empty if the text looks like another JSON value.
    private static func hint(_ text: String) -> String {
        if let first = text.first, "{[\"".contains(first) { return "" }
        let quoted = JSONValue.string(text).jsonText.replacing("'", with: #"'\''"#)
        return "; to send a string, write '\(quoted)'"
    }

    func read() throws -> JSONValue {
        switch self {
        case .value(let value):
            return value
        case .standardInput:
            let data = try FileHandle.standardInput.read(upToCount: Self.maximumSize + 1) ?? Data()
            guard data.count <= Self.maximumSize else {
                throw IoTError(.payloadTooLarge, "a value can have at most \(Self.maximumSize / 1024) KiB")
            }
            do {
                return try JSONValue(parsing: Array(data))
            } catch {
                throw IoTError(.valueInvalid, "standard input is not one JSON value: \(error)")
            }
        }
    }

    /// Puts a space before negative numbers: the parser would take them for options, and in JSON the space has no
    /// meaning.
    static func protectNegativeNumbers(_ arguments: [String]) -> [String] {
        arguments.map { argument in
            argument.first == "-" && argument.dropFirst().first?.isWholeNumber == true ? " " + argument : argument
        }
    }
}
