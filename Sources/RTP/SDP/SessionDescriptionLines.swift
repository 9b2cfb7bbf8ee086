package import IoTCore

/// Splits a session description into lines (RFC 8866 §5): a letter, `=`, a value.
package enum SessionDescriptionLines {
    /// The maximum size of the text in bytes.
    package static let maximumByteCount = 65_536

    /// Calls `take` with each line after `v=0`, in order.
    ///
    /// - Parameter isLenient: Whether to ignore malformed lines and a missing `v=0`, for cameras' descriptions.
    /// - Throws: `sessionDescriptionInvalid` if the text is over 64 KiB. Unless `isLenient`, also if it does not begin
    ///   with `v=0` or a line is malformed.
    package static func read(
        _ text: String, isLenient: Bool = false,
        _ take: (_ type: Substring, _ value: Substring) throws(IoTError) -> Void
    ) throws(IoTError) {
        guard text.utf8.count <= maximumByteCount else { throw invalid("it is over 64 KiB") }
        var isFirst = true
        // Split by bytes, because Swift treats CR LF as one character.
        for bytes in text.utf8.split(separator: UInt8(ascii: "\n")) {
            var line = Substring(bytes)
            while line.utf8.last == UInt8(ascii: "\r") { line = Substring(line.utf8.dropLast()) }
            guard !line.isEmpty else { continue }
            guard line.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 9 }) else {
                if isLenient { continue }
                throw invalid("it contains control characters")
            }
            // Only free text may contain non-ASCII characters (RFC 8866 §9), and none of it is used here. Also, ASCII
            // strings are compared and hashed in linear time, unlike strings that need canonical equivalence.
            guard line.utf8.allSatisfy({ $0 < 0x80 }) else {
                let mustBeRead = ["m=", "a=mid:", "a=group:"].contains { line.utf8.starts(with: $0.utf8) }
                guard isLenient || !isFirst && !mustBeRead else {
                    throw invalid("a line that must be ASCII has other characters")
                }
                continue
            }
            line = Substring(String(line))
            if isFirst {
                isFirst = false
                if line == "v=0" { continue }
                guard isLenient else { throw invalid("it does not begin with v=0") }
            }
            let pieces = line.utf8.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard pieces.count == 2, pieces[0].count == 1 else {
                if isLenient { continue }
                throw invalid("a line does not have the form type=value")
            }
            try take(Substring(pieces[0]), Substring(pieces[1]))
        }
    }

    package static func invalid(_ reason: String) -> IoTError {
        IoTError(.sessionDescriptionInvalid, "the session description cannot be used: \(reason)")
    }
}
