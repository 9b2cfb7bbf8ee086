import IoTCore
import NIOCore

/// A camera's LAN access password: checks it, changes it, and waits longer after each wrong one. Owns no file, clock or
/// thread.
struct LANPasswordGuard: Sendable {
    enum Step: Sendable {
        case done(LANPasswordOutcome)
        /// Store this, then call `stored`.
        case store(PasswordHash)
    }

    /// Bytes of UTF-8 of a new password.
    static let length = 8...64

    private(set) var hash: PasswordHash?
    private var delay = ProofDelay()

    init(_ hash: PasswordHash?) {
        self.hash = hash
    }

    /// - Parameters:
    ///   - password: the present one.
    ///   - newPassword: `nil` to check the present one only. The first password needs no present one.
    /// - Throws: `lanPasswordWrong`; `tooManyRequests` while no password is taken; `invalidParameter` for a new password
    ///   that is not one; `internalFailure`.
    mutating func handle(
        password: String?, newPassword: String?, at now: NIODeadline, random: @Sendable (Int) -> [UInt8]
    ) throws(IoTError) -> Step {
        if let newPassword { try Self.check(newPassword) }
        if let hash {
            if let seconds = delay.wait(at: now) { throw Self.tooEarly(seconds) }
            // A longer one cannot be right, and is not worth its hash.
            let password = password ?? ""
            let isRight = password.utf8.count <= Self.length.upperBound ? hash.matches(password) : false
            guard let isRight else { throw Self.noMemory }
            guard isRight else {
                let seconds = delay.wrong(at: now)
                throw IoTError(
                    .lanPasswordWrong,
                    "the camera's LAN access password is wrong; the camera takes none for the next \(seconds) s")
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
        guard length.contains(password.utf8.count),
            password.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else {
            throw IoTError(
                .invalidParameter, "a LAN access password has 8 to 64 bytes of UTF-8 without control characters",
                remedy: "choose another")
        }
    }

    private static func tooEarly(_ seconds: Int) -> IoTError {
        IoTError(
            .tooManyRequests, "the camera takes no password for \(seconds) s, after wrong ones",
            remedy: "wait that long, and correct the password")
    }

    private static var noMemory: IoTError {
        IoTError(.internalFailure, "the camera has no memory to compare passwords", remedy: "try again later")
    }
}
