import Glibc
import Synchronization

/// Prevents a second process from using a directory. The kernel releases the lock when the process ends.
package final class DirectoryLock: Sendable {
    private let descriptor: Mutex<Int32?>

    /// - Parameters:
    ///   - file: the file's name in the directory; different names are different locks.
    ///   - holder: the name, for the error message, of the process that may hold the lock, for example `hub`.
    /// - Throws: `alreadyRunning`, or `fileFailed`.
    package init(_ directory: String, file name: String, holder: String) throws(IoTError) {
        let path = directory + "/" + name
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            throw IoTError(.fileFailed, "\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            close(file)
            throw IoTError(.alreadyRunning, "another \(holder) uses \(directory)")
        }
        descriptor = Mutex(file)
    }

    /// Releases the lock. A second call does nothing.
    package func release() {
        descriptor.withLock { descriptor in
            if let open = descriptor { close(open) }
            descriptor = nil
        }
    }

    deinit {
        release()
    }
}
