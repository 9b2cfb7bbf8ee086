import Glibc
import IoTCore

/// Keeps a second daemon away from a data directory that has no hub: the hub has a lock of its own. The kernel frees
/// it with the process.
final class DataLock: Sendable {
    private let descriptor: Int32

    /// - Throws: `.alreadyRunning`, or `.fileFailed`.
    init(dataDirectory: String) throws(IoTError) {
        let path = dataDirectory + "/lock"
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            throw IoTError(.fileFailed, "\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            close(file)
            throw IoTError(
                .alreadyRunning, "another daemon uses \(dataDirectory): stop it, or choose another directory")
        }
        descriptor = file
    }

    deinit {
        close(descriptor)
    }
}
