import Glibc

/// Reads files after a check of their permissions; writes files that only their owner may read.
package enum PrivateFile {
    /// The largest file that `text(of:)` reads, in bytes.
    private static let maximumTextSize = 65_536

    /// Reads the whole file. The check and the read use the same descriptor, so the file cannot be replaced between
    /// them.
    ///
    /// - Parameters:
    ///   - limit: the largest size, in bytes.
    ///   - secrecy: who may read it; `nil` for a file that holds no secret.
    /// - Returns: `nil` if there is no such file.
    /// - Throws: `fileFailed` if the path cannot be read or is not a regular file; `invalidConfiguration` if `secrecy`
    ///   forbids the file's permissions, or if the file is too large.
    package static func bytes(
        of path: String, limit: Int, secrecy: FileSecrecy? = .owner
    ) throws(IoTError) -> [UInt8]? {
        // O_NONBLOCK, because opening a named pipe would otherwise wait for its writer.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw unreadable(path, errno)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw unreadable(path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw IoTError(.fileFailed, "\(path) cannot be read: it is not a regular file")
        }
        try secrecy?.check(path: path, mode: status.st_mode)
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var count = 0
        while count < bytes.count {
            let taken = bytes.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress! + count, $0.count - count) }
            if taken < 0, errno == EINTR { continue }
            guard taken >= 0 else { throw unreadable(path, errno) }
            guard taken > 0 else { break }
            count += taken
        }
        guard count <= limit else {
            throw IoTError(.invalidConfiguration, "\(path) is larger than \(limit) bytes")
        }
        bytes.removeSubrange(count...)
        return bytes
    }

    /// Like `bytes(of:limit:)`, for files that we wrote ourselves. Invalid UTF-8 is repaired.
    package static func text(of path: String) throws(IoTError) -> String? {
        try bytes(of: path, limit: maximumTextSize).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The error for a required file that `bytes(of:limit:)` did not find.
    package static func missing(_ path: String) -> IoTError { unreadable(path, ENOENT) }

    /// Writes a file with mode 0600 from its creation on. Syncs the file, and its directory if possible, so that the
    /// file survives a power cut.
    ///
    /// - Throws: `fileFailed`; the file is then unchanged.
    package static func write(_ text: String, to path: String) throws(IoTError) {
        let temporary = path + ".new"
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw unwritable(temporary, errno) }
        let isWritten = writeAll(Array(text.utf8), to: file) && fsync(file) == 0
        let reason = errno
        close(file)
        guard isWritten else {
            unlink(temporary)
            throw unwritable(temporary, reason)
        }
        guard rename(temporary, path) == 0 else {
            let reason = errno
            unlink(temporary)
            throw unwritable(path, reason)
        }
        OpenFile.syncDirectory(path.lastIndex(of: "/").map { String(path[...$0]) } ?? ".")
    }

    private static func writeAll(_ bytes: [UInt8], to file: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func unreadable(_ path: String, _ reason: Int32) -> IoTError {
        IoTError(.fileFailed, "\(path) cannot be read: \(String(cString: strerror(reason)))")
    }

    private static func unwritable(_ path: String, _ reason: Int32) -> IoTError {
        IoTError(.fileFailed, "\(path) cannot be written: \(String(cString: strerror(reason)))")
    }
}
