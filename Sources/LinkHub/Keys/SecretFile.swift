import Glibc
import IoTCore
import IoTLink

/// Files that hold secrets, as `PrivateFile` writes them, in directories of mode 0700.
enum SecretFile {
    /// Makes the directory when it is missing, and takes group's and others' rights away when it is not.
    static func makeDirectory(_ path: String) throws(IoTError) {
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

    /// - Returns: `nil` if there is no such file.
    static func read(_ path: String) throws(IoTError) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("read", path)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_size <= 65_536 else {
            throw IoTError(.fileFailed, "\(path) is too large for a secret", remedy: "remove it")
        }
        guard FileSecrecy.owner.allows(mode: status.st_mode) else {
            throw IoTError(
                .fileFailed, "\(path) may be read by others", remedy: "`chmod 600` it, and make a new secret")
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        let count = Glibc.read(file, &bytes, bytes.count)
        guard count == bytes.count else { throw failure("read", path) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func failure(_ what: String, _ path: String) -> IoTError {
        IoTError(.fileFailed, "cannot \(what) \(path): \(String(cString: strerror(errno)))")
    }
}
