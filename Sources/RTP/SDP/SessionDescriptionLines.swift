package import IoTCore

/// The lines of a session description (RFC 8866 §5): a letter, `=`, a value.
package enum SessionDescriptionLines {
    /// The greatest text that is read, in bytes.
    package static let maximumByteCount = 65_536

    /// Gives the lines after `v=0`, in order.
    ///
    /// - Throws: `sessionDescriptionInvalid` for a text over 64 KiB, one that does not begin with `v=0`, and a line that
    ///   is malformed.
    package static func read(
        _ text: String, _ take: (_ type: Substring, _ value: Substring) throws(IoTError) -> Void
    ) throws(IoTError) {
        guard text.utf8.count <= maximumByteCount else { throw invalid("it is over 64 KiB") }
        var isFirst = true
        // By bytes: to Swift, CR LF is one character.
        for bytes in text.utf8.split(separator: UInt8(ascii: "\n")) {
            var line = Substring(bytes)
            while line.utf8.last == UInt8(ascii: "\r") { line = Substring(line.utf8.dropLast()) }
            guard !line.isEmpty else { continue }
            guard line.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 9 }) else {
                throw invalid("it holds control characters")
            }
            // More than ASCII stands in free text alone (RFC 8866 §9), and none of that is of use here. Strings of
            // ASCII are also compared and hashed in linear time, which canonical equivalence is not.
            guard line.utf8.allSatisfy({ $0 < 0x80 }) else {
                let mustBeRead = ["m=", "a=mid:", "a=group:"].contains { line.utf8.starts(with: $0.utf8) }
                guard !isFirst, !mustBeRead else { throw invalid("a line that must be ASCII is not") }
                continue
            }
            line = Substring(String(line))
            if isFirst {
                guard line == "v=0" else { throw invalid("it does not begin with v=0") }
                isFirst = false
                continue
            }
            let pieces = line.utf8.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard pieces.count == 2, pieces[0].count == 1 else { throw invalid("a line is no type=value") }
            try take(Substring(pieces[0]), Substring(pieces[1]))
        }
    }

    package static func invalid(_ reason: String) -> IoTError {
        IoTError(.sessionDescriptionInvalid, "the session description cannot be used: \(reason)")
    }
}
