import Glibc
package import IoTCore

/// Files that only their owner may read, replaced as a whole.
package enum PrivateFile {
    /// Mode 0600 from its first moment; lasts over a power cut when this returns.
    ///
    /// - Throws: `fileFailed`; the file is then as it was.
    package static func write(_ text: String, to path: String) throws(IoTError) {
        let temporary = path + ".new"
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure(temporary, errno) }
        let isWritten = writeAll(Array(text.utf8), to: file) && fsync(file) == 0
        let reason = errno
        close(file)
        guard isWritten else {
            unlink(temporary)
            throw failure(temporary, reason)
        }
        guard rename(temporary, path) == 0 else {
            let reason = errno
            unlink(temporary)
            throw failure(path, reason)
        }
        syncDirectory(of: path)
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

    /// The new name lasts only when its directory is written, too.
    private static func syncDirectory(of path: String) {
        let end = path.lastIndex(of: "/")
        let directory = open(end.map { String(path[...$0]) } ?? ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return }
        fsync(directory)
        close(directory)
    }

    private static func failure(_ path: String, _ reason: Int32) -> IoTError {
        IoTError(.fileFailed, "\(path) cannot be written: \(String(cString: strerror(reason)))")
    }
}
