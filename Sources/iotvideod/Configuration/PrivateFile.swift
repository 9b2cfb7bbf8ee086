import Foundation
import IoTCore

/// Files that only their owner may read, replaced as a whole.
enum PrivateFile {
    /// Makes the directory with mode 0700 when it is missing, and those above it.
    static func makeDirectory(_ path: String) throws(IoTError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw IoTError(
                .fileFailed, "the directory \(path) cannot be made: \(FileReason.describe(error))", underlying: error)
        }
    }

    /// Mode 0600 from its first moment; lasts over a power cut when this returns.
    static func write(_ text: String, to path: String) throws(IoTError) {
        let temporary = path + ".new"
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure(temporary) }
        let isWritten = writeAll(Array(text.utf8), to: file) && fsync(file) == 0
        let reason = errno
        close(file)
        guard isWritten else {
            unlink(temporary)
            errno = reason
            throw failure(temporary)
        }
        guard rename(temporary, path) == 0 else { throw failure(path) }
        let directory = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return }
        fsync(directory)
        close(directory)
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

    private static func failure(_ path: String) -> IoTError {
        IoTError(.fileFailed, "\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
}
