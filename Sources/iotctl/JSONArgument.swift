import ArgumentParser
import Foundation
import IoTCore

/// A JSON value from the command line.
enum JSONArgument {
    /// The greatest value that is read from standard input, in bytes: what the daemon takes.
    private static let maximumSize = 256 * 1024

    /// - Parameter text: JSON text, or `-` for standard input.
    /// - Throws: `.valueInvalid`, with a hint for a bare word.
    static func parse(_ text: String) throws -> JSONValue {
        if text == "-" {
            let data = try FileHandle.standardInput.read(upToCount: maximumSize + 1) ?? Data()
            guard data.count <= maximumSize else {
                throw IoTError(.payloadTooLarge, "a value may hold \(maximumSize / 1024) KiB")
            }
            do {
                return try JSONValue(parsing: Array(data))
            } catch {
                throw IoTError(.valueInvalid, "standard input is not one JSON value: \(error)")
            }
        }
        do {
            return try JSONValue(parsing: text)
        } catch {
            throw ValidationError("\(text) is not JSON (\(error)); did you mean '\(JSONValue.string(text).jsonText)'?")
        }
    }
}
