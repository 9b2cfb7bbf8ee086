import Foundation
import IoTCore

/// The bytes that a command sends: an argument, or standard input.
struct SentBytes {
    private let text: String
    private let isHexadecimal: Bool

    /// - Parameter text: `-` for standard input.
    init(_ text: String, isHexadecimal: Bool) {
        self.text = text
        self.isHexadecimal = isHexadecimal
    }

    /// - Parameter limit: More is read, but not much more, so that the caller can refuse it.
    func read(atMost limit: Int) throws -> [UInt8] {
        guard text == "-" else { return isHexadecimal ? Hex.decode(text) ?? [] : Array(text.utf8) }
        let input = try FileHandle.standardInput.read(upToCount: 2 * limit + 2) ?? Data()
        guard isHexadecimal else { return Array(input) }
        let digits = String(decoding: input, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let bytes = Hex.decode(digits) else {
            throw IoTError(.invalidParameter, "standard input is not hexadecimal")
        }
        return bytes
    }
}
