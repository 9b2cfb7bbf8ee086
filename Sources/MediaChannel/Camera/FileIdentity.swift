import Glibc

/// Which file a path names now, so that one that was removed or replaced is noticed while it is still open (stat(2)).
struct FileIdentity: Equatable {
    private let device: dev_t
    private let inode: ino_t

    /// `nil` when there is no such file.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = status.st_dev
        inode = status.st_ino
    }
}
