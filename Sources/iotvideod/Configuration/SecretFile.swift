import Glibc
import IoTCore

/// A file with one secret in it.
enum SecretFile {
    static let maximumSize = 4096

    /// The file's text without the newline at its end.
    ///
    /// - Throws: `.fileFailed` when it cannot be read, `.invalidConfiguration` when others than its owner may read
    ///   it, or when it is empty or over 4 KiB.
    static func read(_ path: String) throws(IoTError) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw IoTError(.fileFailed, "\(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        guard isPrivate(descriptor) else {
            throw IoTError(.invalidConfiguration, "others than its owner may read \(path): chmod 600 \(path)")
        }
        var bytes = [UInt8](repeating: 0, count: maximumSize + 1)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else {
            throw IoTError(.fileFailed, "\(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        var text = bytes[..<count]
        if text.last == UInt8(ascii: "\n") { text = text.dropLast() }
        if text.last == UInt8(ascii: "\r") { text = text.dropLast() }
        guard !text.isEmpty, text.count <= maximumSize else {
            throw IoTError(.invalidConfiguration, "\(path) must hold one secret of 1 to \(maximumSize) bytes")
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// True when only the owner may read the file.
    static func isPrivate(path: String) -> Bool {
        var information = stat()
        return stat(path, &information) == 0 && information.st_mode & 0o077 == 0
    }

    private static func isPrivate(_ descriptor: Int32) -> Bool {
        var information = stat()
        return fstat(descriptor, &information) == 0 && information.st_mode & 0o077 == 0
    }
}
