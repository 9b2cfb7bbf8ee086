import Glibc

/// Who may read a file with a secret: the one rule, for every file that the daemon, its hub and its link read.
package enum FileSecrecy: Sendable {
    /// Tokens, passwords, and keys that the daemon made: their owner alone (0600 or less).
    case owner
    /// Private keys of TLS certificates that an administrator gave: a group may read them too (0640), since that is how
    /// Debian hands them to services, with its group ssl-cert. Nobody but the owner may write them.
    case ownerAndReadingGroup

    private var forbidden: mode_t {
        switch self {
        case .owner: 0o077
        case .ownerAndReadingGroup: 0o037
        }
    }

    private func allows(mode: mode_t) -> Bool { mode & forbidden == 0 }

    /// Follows links: what counts is the file.
    package func allows(path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && allows(mode: status.st_mode)
    }

    /// - Throws: `invalidConfiguration` with the command that remedies it.
    func check(path: String, mode: mode_t) throws(IoTError) {
        guard !allows(mode: mode) else { return }
        let text = "0" + String(mode & 0o777, radix: 8)
        switch self {
        case .owner:
            throw IoTError(
                .invalidConfiguration, "others than its owner may read \(path) (mode \(text))",
                remedy: "run `chmod 600 \(path)`")
        case .ownerAndReadingGroup:
            throw IoTError(
                .invalidConfiguration,
                "others than its owner and its group may read \(path), or others may write it (mode \(text))",
                remedy: "run `chmod 640 \(path)`, or `chmod 600` to keep its group out")
        }
    }
}
