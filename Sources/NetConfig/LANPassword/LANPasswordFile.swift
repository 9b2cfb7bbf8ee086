import Dispatch
public import IoTCore
import NIOCore
import Synchronization

/// A camera's LAN access password, stored as a slow hash in a file with mode 0600.
///
/// A separate queue computes the hashes and accesses the file, one request at a time. A few requests can wait; more are
/// refused.
public final class LANPasswordFile: Sendable {
    private static let maximumWaiting = 8

    private let path: String
    private let now: @Sendable () -> NIODeadline
    private let queue = DispatchQueue(label: "lan-password")
    private let waiting = Mutex(0)
    /// `nil` until the file has been read. Used only on the queue.
    private let state = Mutex<LANPasswordGuard?>(nil)

    public convenience init(path: String) {
        self.init(path: path, now: { .now() })
    }

    init(path: String, now: @escaping @Sendable () -> NIODeadline) {
        self.path = path
        self.now = now
    }

    /// Checks the password; with a new one, also changes it.
    ///
    /// - Returns: `.null`, `.ok` or `.changed`.
    /// - Throws: `lanPasswordWrong`, `lanPasswordChangeFailed`, `tooManyRequests`, `invalidParameter`; `fileFailed` or
    ///   `invalidConfiguration` for a file that cannot be used.
    public func handle(password: String?, newPassword: String?) async throws(IoTError) -> LANPasswordOutcome {
        let hasRoom = waiting.withLock { waiting in
            guard waiting < Self.maximumWaiting else { return false }
            waiting += 1
            return true
        }
        guard hasRoom else {
            throw IoTError(.tooManyRequests, "the camera is busy checking other passwords", remedy: "try again")
        }
        let result = await withCheckedContinuation { continuation in
            queue.async { [self] in
                let result = Result { () throws(IoTError) in
                    try work(password: password, newPassword: newPassword)
                }
                waiting.withLock { $0 -= 1 }
                continuation.resume(returning: result)
            }
        }
        return try result.get()
    }

    private func work(password: String?, newPassword: String?) throws(IoTError) -> LANPasswordOutcome {
        try state.withLock { (state: inout LANPasswordGuard?) throws(IoTError) in
            var current: LANPasswordGuard
            if let state { current = state } else { current = LANPasswordGuard(try read()) }
            defer { state = current }
            let step = try current.handle(
                password: password, newPassword: newPassword, at: now(), random: SystemRandom.bytes)
            switch step {
            case .done(let outcome): return outcome
            case .store(let hash):
                do throws(IoTError) {
                    try PrivateFile.write(hash.text + "\n", to: path)
                } catch {
                    // The message does not contain the path, which only the log of the camera's box may show.
                    throw IoTError(.lanPasswordChangeFailed, underlying: error)
                }
                current.stored(hash)
                return .changed
            }
        }
    }

    private func read() throws(IoTError) -> PasswordHash? {
        guard let text = try PrivateFile.text(of: path) else { return nil }
        guard let line = text.split(whereSeparator: \.isNewline).first, let hash = PasswordHash(line) else {
            // A damaged file must not count as no password.
            throw IoTError(
                .fileFailed, "\(path) is damaged",
                remedy: "restore it from a backup, or remove it and set a new password")
        }
        return hash
    }
}
