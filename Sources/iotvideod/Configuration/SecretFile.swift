import IoTCore

/// A file with one secret in it.
enum SecretFile {
    static let maximumSize = 4096

    /// The file's text without the newline at its end.
    ///
    /// - Throws: `.fileFailed` when it cannot be read, `.invalidConfiguration` when others than its owner may read
    ///   it, or when it is empty or over 4 KiB.
    static func read(_ path: String) throws(IoTError) -> String {
        // With the line's end.
        guard var bytes = try PrivateFile.bytes(of: path, limit: maximumSize + 2) else {
            throw PrivateFile.missing(path)
        }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard (1...maximumSize).contains(bytes.count), let text = String(validating: bytes, as: UTF8.self) else {
            throw IoTError(.invalidConfiguration, "\(path) must hold one secret of 1 to \(maximumSize) bytes of text")
        }
        return text
    }
}
