import Foundation
import IoTCore

/// A secret from a file, or from standard input.
enum SecretInput {
    private static let maximumSize = 4096

    /// - Parameter path: a file, or `-`: standard input, asked for without echo where that is a terminal.
    /// - Throws: `.fileFailed`; `.invalidParameter` for an empty or oversized secret.
    static func read(_ path: String) throws -> String {
        if path == "-", isatty(STDIN_FILENO) == 1 {
            guard let text = getpass("password: ") else { throw IoTError(.fileFailed, "the terminal cannot be read") }
            return try check(String(cString: text))
        }
        let data: Data?
        do {
            let handle = path == "-" ? .standardInput : try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            data = try handle.read(upToCount: maximumSize + 2)
        } catch {
            throw IoTError(.fileFailed, "\(path) cannot be read: \(error.localizedDescription)", underlying: error)
        }
        guard let text = String(data: data ?? Data(), encoding: .utf8) else {
            throw IoTError(.invalidParameter, "the password is not UTF-8")
        }
        return try check(text)
    }

    /// One newline at the end belongs to the file, not to the secret.
    private static func check(_ text: String) throws -> String {
        var text = text[...]
        if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text = text.dropLast() }
        guard !text.isEmpty, text.utf8.count <= maximumSize else {
            throw IoTError(.invalidParameter, "the password must have 1 to \(maximumSize) bytes")
        }
        return String(text)
    }
}
