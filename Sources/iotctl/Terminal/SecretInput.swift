import Foundation
import IoTCore

/// A secret from a file, or from standard input.
enum SecretInput {
    private static let maximumSize = 16_384

    /// - Parameters:
    ///   - path: a file, or `-` for standard input. On a terminal, the user is asked without echo.
    ///   - what: the name of the secret in messages.
    /// - Throws: `.fileFailed`; `.invalidParameter` for an empty or oversized secret.
    static func read(_ path: String, what: String = "password") throws -> String {
        if path == "-", Prompt.isPossible { return try check(try Prompt.secret("\(what): "), what) }
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw DescriptorWriting.failure("\(path) cannot be read") }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: path != "-")
        let data: Data?
        do {
            data = try handle.read(upToCount: maximumSize + 2)
        } catch {
            throw IoTError(
                .fileFailed, "\(path == "-" ? "standard input" : path) cannot be read: \(FailureReason.of(error))",
                underlying: error)
        }
        guard let text = String(data: data ?? Data(), encoding: .utf8) else {
            throw IoTError(.invalidParameter, "the \(what) is not UTF-8")
        }
        return try check(text, what)
    }

    /// Removes one newline at the end, which belongs to the file and not to the secret.
    private static func check(_ text: String, _ what: String) throws -> String {
        var text = text[...]
        if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text = text.dropLast() }
        guard !text.isEmpty, text.utf8.count <= maximumSize else {
            throw IoTError(.invalidParameter, "the \(what) must have 1 to \(maximumSize) bytes")
        }
        return String(text)
    }
}
