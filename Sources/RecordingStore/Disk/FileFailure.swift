import Glibc
package import IoTCore

/// A call to a disk that failed.
package struct FileFailure: Error, Sendable, Hashable {
    package enum Call: String, Sendable, CaseIterable {
        case attach, initialise, create, open, write, read, sync, syncDirectory, reserve, truncate, remove, list, size
        case space
    }

    package var call: Call
    /// Relative to the disk's directory; empty for the directory itself.
    package var path: String
    /// `errno`.
    package var reason: Int32

    package init(_ call: Call, _ path: String, _ reason: Int32) {
        self.call = call
        self.path = path
        self.reason = reason
    }

    /// Whether the disk, or the quota of the daemon's user, is full.
    package var isOfSpace: Bool { reason == ENOSPC || reason == EDQUOT }

    package var isMissing: Bool { reason == ENOENT }

    /// Whether the file is encrypted with a key that is not there.
    package var isOfKey: Bool { reason == ENOKEY }

    /// Whether an encrypted file is not what was written.
    package var isOfDamage: Bool { reason == EBADMSG }

    /// For the user.
    package func error(disk: String) -> IoTError {
        let place = path.isEmpty ? disk : disk + "/" + path
        let remedy: String =
            switch reason {
            case ENOSPC, EDQUOT: "free space on the disk, or release recordings that are kept"
            case ENOENT where call == .attach: "mount the disk there, or create the directory"
            case EACCES, EPERM, EROFS: "give the daemon's user the right to write there"
            case ENOKEY: "add the key with which it was recorded to recording.keyFiles"
            case EBADMSG: "the file was damaged or changed; other recordings can still be read"
            default: "check the disk's cable and health; recording resumes when the disk is back"
            }
        return IoTError(
            .recorderUnavailable, "\(call.rawValue) failed at \(place): \(String(cString: strerror(reason)))",
            remedy: remedy, underlying: self)
    }
}
