import Dispatch
public import IoTCore
import NIOCore
import Synchronization

/// A camera's LAN access password in a file of mode 0600, as a slow hash.
///
/// Hashes and the file are worked on by a thread of its own, one request at a time; a few wait, and more are refused.
public final class LANPasswordFile: Sendable {
    private static let maximumWaiting = 8

    private let path: String
    private let now: @Sendable () -> NIODeadline
    private let queue = DispatchQueue(label: "lan-password")
    private let waiting = Mutex(0)
    /// `nil` before the file was read. Used on the queue alone.
    private let state = Mutex<LANPasswordGuard?>(nil)

    public convenience init(path: String) {
        self.init(path: path, now: { .now() })
    }

    init(path: String, now: @escaping @Sendable () -> NIODeadline) {
        self.path = path
        self.now = now
    }

    /// Checks the password, or changes it when there is a new one.
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
            throw IoTError(.tooManyRequests, "the camera compares other passwords", remedy: "try again")
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
                    // Where it is stored is for the log of the camera's box alone.
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
            // Never without a password because of a damaged file.
            throw IoTError(
                .fileFailed, "\(path) is damaged",
                remedy: "restore it from a backup, or remove it and set a new password")
        }
        return hash
    }
}
