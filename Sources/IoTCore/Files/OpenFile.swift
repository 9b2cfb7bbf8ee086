import Glibc

/// Reads and writes at places of an open file, and syncs and measures its disk. What fails leaves its reason in `errno`.
package enum OpenFile {
    /// - Returns: `count` bytes, fewer at the file's end; `nil` if it cannot be read.
    package static func read(_ file: Int32, at place: Int64, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let taken = bytes.withUnsafeMutableBytes {
                pread(file, $0.baseAddress! + filled, count - filled, off_t(place) + off_t(filled))
            }
            if taken < 0, errno == EINTR { continue }
            guard taken >= 0 else { return nil }
            guard taken > 0 else { break }
            filled += taken
        }
        bytes.removeSubrange(filled...)
        return bytes
    }

    /// - Returns: whether everything is written.
    package static func write(_ bytes: [UInt8], to file: Int32, at place: Int64) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let offset = place + Int64(bytes.count - rest.count)
            let count = rest.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, off_t(offset)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// A new name, or a rename, survives a power cut only if the directory is synced.
    ///
    /// - Returns: whether it is synced.
    @discardableResult
    package static func syncDirectory(_ path: String) -> Bool {
        let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return false }
        defer { close(directory) }
        return fsync(directory) == 0
    }

    /// How many bytes the disk of a path has for programs without privileges; `nil` if it does not say.
    package static func freeSpace(at path: String) -> Int64? {
        space(at: path).map { bytes($0.f_bavail, of: $0) }
    }

    /// How many bytes the disk of a path has in all; `nil` if it does not say.
    package static func totalSpace(at path: String) -> Int64? {
        space(at: path).map { bytes($0.f_blocks, of: $0) }
    }

    private static func space(at path: String) -> statvfs? {
        var space = statvfs()
        return statvfs(path, &space) == 0 ? space : nil
    }

    private static func bytes(_ blocks: some BinaryInteger, of space: statvfs) -> Int64 {
        Int64(clamping: UInt64(blocks).multipliedReportingOverflow(by: UInt64(space.f_frsize)).0)
    }
}
