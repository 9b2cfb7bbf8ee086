import Dispatch
import Foundation
import Glibc
import IoTCore
import Synchronization

/// A child process, started with `posix_spawn`. It has its own process group, so that Ctrl-C in a terminal reaches only
/// the daemon, and the broker still carries the daemon's last messages. It inherits no file except its log.
final class ChildProcess: Sendable {
    let identifier: pid_t
    /// True once the child is collected: another process may then get its identifier.
    private let isCollected = Mutex(false)

    private init(identifier: pid_t) {
        self.identifier = identifier
    }

    /// - Parameter logFile: Receives standard output and standard error, appended.
    static func start(_ program: String, arguments: [String], logFile: String) throws(IoTError) -> ChildProcess {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, logFile, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
        for descriptor in Self.inheritedDescriptors { posix_spawn_file_actions_addclose(&actions, descriptor) }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var argumentPointers: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for pointer in argumentPointers { free(pointer) } }
        var identifier: pid_t = 0
        let result = posix_spawn(&identifier, program, &actions, &attributes, &argumentPointers, environ)
        guard result == 0 else {
            throw IoTError(.brokerFailed, "\(program) could not be started: \(String(cString: strerror(result)))")
        }
        return ChildProcess(identifier: identifier)
    }

    /// The descriptors that a child would inherit beyond the standard three, from libraries that do not set
    /// `FD_CLOEXEC`.
    private static var inheritedDescriptors: [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap { Int32($0) }.filter { descriptor in
            let flags = fcntl(descriptor, F_GETFD)
            return descriptor > STDERR_FILENO && flags >= 0 && flags & FD_CLOEXEC == 0
        }
    }

    /// Waits on a separate thread, and collects the child. Call it once.
    /// - Returns: How the child ended, for a log.
    func waitForExit() async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in continuation.resume(returning: collect()) }
        }
    }

    /// Sends `SIGTERM`, and `SIGKILL` if the child has not ended within `patience`.
    func terminate(patience: TimeInterval = 1) {
        send(SIGTERM)
        DispatchQueue.global().asyncAfter(deadline: .now() + patience) { [self] in send(SIGKILL) }
    }

    var hasEnded: Bool {
        isCollected.withLock { $0 }
    }

    func send(_ signal: Int32) {
        isCollected.withLock { isCollected in
            if !isCollected { _ = kill(identifier, signal) }
        }
    }

    private func collect() -> String {
        // The child stays a zombie until the lock is held, so that `send` never signals another process.
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
        return isCollected.withLock { isCollected in
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
            isCollected = true
            let signal = status & 0x7F
            return signal == 0 ? "exit status \(status >> 8 & 0xFF)" : "signal \(signal)"
        }
    }
}
