import IoTCore
import NIOCore

/// Checks and changes a camera's LAN access password. After each wrong password it refuses all passwords for a longer time.
/// Owns no file, clock or thread.
struct LANPasswordGuard: Sendable {
    enum Step: Sendable {
        case done(LANPasswordOutcome)
        /// The caller must store the hash and then call `stored`.
        case store(PasswordHash)
    }

    /// The length of a new password in Unicode code points, as JSON Schema counts.
    static let length = 8...64

    private(set) var hash: PasswordHash?
    private var delay = ProofDelay()

    init(_ hash: PasswordHash?) {
        self.hash = hash
    }

    /// - Parameters:
    ///   - password: the current password. Not needed to set the first one.
    ///   - newPassword: `nil` to check `password` only.
    /// - Throws: `lanPasswordWrong`; `tooManyRequests` during the time after a wrong password; `invalidParameter` for an
    ///   invalid new password; `internalFailure`.
    mutating func handle(
        password: String?, newPassword: String?, at now: NIODeadline, random: @Sendable (Int) -> [UInt8]
    ) throws(IoTError) -> Step {
        if let newPassword { try Self.check(newPassword) }
        if let hash {
            // Not a guess, so neither a hash nor a delay.
            guard let password else {
                throw IoTError(
                    .lanPasswordWrong, "the camera has a LAN access password, and the request has none",
                    remedy: "give the current password")
            }
            if let seconds = delay.wait(at: now) { throw Self.tooEarly(seconds) }
            // A longer password cannot be right, so its hash is not computed.
            let isRight = password.utf8.count <= Self.length.upperBound ? hash.matches(password) : false
            guard let isRight else { throw Self.noMemory }
            guard isRight else {
                let seconds = delay.wrong(at: now)
                throw IoTError(
                    .lanPasswordWrong,
                    "the camera's LAN access password is wrong; the camera refuses all passwords for \(seconds) s")
            }
            delay.right()
        }
        guard let newPassword else { return .done(hash == nil ? .null : .ok) }
        guard let hash = PasswordHash(of: newPassword, random: random) else { throw Self.noMemory }
        return .store(hash)
    }

    mutating func stored(_ hash: PasswordHash) {
        self.hash = hash
    }

    private static func check(_ password: String) throws(IoTError) {
        guard length.contains(password.unicodeScalars.count), password.isPrintableOnOneLine else {
            throw IoTError(
                .invalidParameter,
                "a LAN access password must have 8 to 64 characters, none of them a control character",
                remedy: "choose another password")
        }
    }

    private static func tooEarly(_ seconds: Int) -> IoTError {
        IoTError(
            .tooManyRequests, "after wrong passwords, the camera refuses all passwords for another \(seconds) s",
            remedy: "wait that long, and correct the password")
    }

    private static var noMemory: IoTError {
        IoTError(.internalFailure, "the camera has not enough memory to check a password", remedy: "try again later")
    }
}
