import Glibc

/// Directories that only their owner may enter.
package enum PrivateDirectory {
    /// Creates the directory with mode 0700. If it exists, the permissions of the group and of others are removed.
    package static func make(_ path: String) throws(IoTError) {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw failure("make the directory", path) }
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw IoTError(.fileFailed, "\(path) is not a directory", remedy: "move it away")
        }
        guard status.st_uid == geteuid() else {
            throw IoTError(
                .fileFailed, "\(path) belongs to another account", remedy: "remove it or choose another place")
        }
        if status.st_mode & 0o077 != 0, chmod(path, 0o700) != 0 { throw failure("protect", path) }
    }

    private static func failure(_ what: String, _ path: String) -> IoTError {
        IoTError(.fileFailed, "cannot \(what) \(path): \(String(cString: strerror(errno)))")
    }
}
