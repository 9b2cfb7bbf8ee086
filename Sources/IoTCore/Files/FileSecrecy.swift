import Glibc

/// Who may read a file that holds a secret. The daemon, its hub and its link use these rules for every such file.
package enum FileSecrecy: Sendable {
    /// For tokens, passwords, and private keys that the daemon made: only the owner has access (0600 or less).
    case owner
    /// For private keys of TLS certificates that an administrator installed: a group may read the file, too (0640),
    /// because Debian gives services access to keys through its group ssl-cert. Only the owner may write the file.
    case ownerAndReadingGroup

    private var forbidden: mode_t {
        switch self {
        case .owner: 0o077
        case .ownerAndReadingGroup: 0o037
        }
    }

    private func allows(mode: mode_t) -> Bool { mode & forbidden == 0 }

    /// Whether the permissions of the file are strict enough. Symbolic links are followed.
    package func allows(path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && allows(mode: status.st_mode)
    }

    /// - Throws: `invalidConfiguration`, with the command that corrects the permissions as remedy.
    func check(path: String, mode: mode_t) throws(IoTError) {
        guard !allows(mode: mode) else { return }
        let text = "0" + String(mode & 0o777, radix: 8)
        switch self {
        case .owner:
            throw IoTError(
                .invalidConfiguration, "others than its owner have access to \(path) (mode \(text))",
                remedy: "run `chmod 600 \(path)`")
        case .ownerAndReadingGroup:
            throw IoTError(
                .invalidConfiguration,
                "\(path) has mode \(text); its group may only read it, and others must not have access",
                remedy: "run `chmod 640 \(path)`, or `chmod 600` to exclude its group")
        }
    }
}
