import IoTCore

/// A file that contains one secret.
enum SecretFile {
    static let maximumSize = 4096

    /// The file's text without the final line break.
    ///
    /// - Throws: `.fileFailed` if the file cannot be read; `.invalidConfiguration` if users other than its owner may
    ///   read it, or if it is empty or larger than 4 KiB.
    static func read(_ path: String) throws(IoTError) -> String {
        // Two bytes more for the line break.
        guard var bytes = try PrivateFile.bytes(of: path, limit: maximumSize + 2) else {
            throw PrivateFile.missing(path)
        }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard (1...maximumSize).contains(bytes.count), let text = String(validating: bytes, as: UTF8.self) else {
            throw IoTError(.invalidConfiguration, "\(path) must contain one secret, 1 to \(maximumSize) bytes of text")
        }
        return text
    }
}
