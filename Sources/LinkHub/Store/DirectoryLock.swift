import Glibc
import IoTCore
import NIOConcurrencyHelpers

/// Keeps a second hub away from a data directory, also when no daemon's own lock does. The kernel frees it with us.
final class DirectoryLock: Sendable {
    private let descriptor: NIOLockedValueBox<Int32?>

    /// - Throws: `alreadyRunning`.
    init(dataDirectory: String) throws(IoTError) {
        let path = dataDirectory + "/hub.lock"
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            throw IoTError(.fileFailed, "cannot open \(path): \(String(cString: strerror(errno)))")
        }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            close(file)
            throw IoTError(.alreadyRunning, "another hub uses \(dataDirectory): stop it, or choose another directory")
        }
        descriptor = NIOLockedValueBox(file)
    }

    /// Lets another hub in; a second call does nothing.
    func release() {
        descriptor.withLockedValue { descriptor in
            if let open = descriptor { close(open) }
            descriptor = nil
        }
    }

    deinit {
        release()
    }
}
