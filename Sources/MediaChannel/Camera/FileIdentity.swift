import Glibc

/// Identifies the file that a path refers to, so that removal or replacement is noticed while it is open (stat(2)).
struct FileIdentity: Equatable {
    private let device: dev_t
    private let inode: ino_t

    /// `nil` if the file does not exist.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = status.st_dev
        inode = status.st_ino
    }
}
