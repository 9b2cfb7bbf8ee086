import CFileSpace
import Glibc
import IoTCore
package import NIOCore
import Synchronization

/// The files of a disk below a directory. Every path is opened relative to the open directory, so a file never comes to
/// lie on the disk below when this one is unmounted.
package final class POSIXRecordingFiles: RecordingFiles {
    /// The marker, which makes a directory a recording disk.
    static let marker = "iotvideod-disk"

    private struct State {
        var root: Int32?
        var files: Set<OpenFile> = []
    }

    let path: String
    private let requiresMount: Bool
    private let state = Mutex(State())

    /// - Parameter requiresMount: whether `path` must be a mount point, so that a disk that was not mounted is noticed
    ///   even when the directory is used for the first time.
    package init(path: String, requiresMount: Bool) {
        self.path = path
        self.requiresMount = requiresMount
    }

    deinit {
        detach()
    }

    // MARK: The disk

    package func attach() throws(FileFailure) -> String? {
        detach()
        let root = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard root >= 0 else { throw FileFailure(.attach, "", errno) }
        state.withLock { $0.root = root }
        if requiresMount {
            var own = stat()
            var parent = stat()
            guard fstat(root, &own) == 0, fstatat(root, "..", &parent, 0) == 0 else {
                throw FileFailure(.attach, "", errno)
            }
            guard own.st_dev != parent.st_dev else { throw FileFailure(.attach, "", ENODEV) }
        }
        let file = openat(root, Self.marker, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw FileFailure(.attach, Self.marker, errno)
        }
        defer { Glibc.close(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = pread(file, &bytes, bytes.count, 0)
        guard count >= 0 else { throw FileFailure(.attach, Self.marker, errno) }
        guard let uuid = DiskMarker.uuid(in: String(decoding: bytes.prefix(count), as: UTF8.self)) else {
            throw FileFailure(.attach, Self.marker, EINVAL)
        }
        return uuid
    }

    package func initialise(uuid: String) throws(FileFailure) {
        let root = try root(.initialise)
        let text = Array(DiskMarker.text(uuid: uuid).utf8)
        let temporary = Self.marker + ".new"
        unlinkat(root, temporary, 0)
        let file = openat(root, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o640)
        guard file >= 0 else { throw FileFailure(.initialise, temporary, errno) }
        let isWritten = Glibc.write(file, text, text.count) == text.count && fsync(file) == 0
        let reason = errno
        Glibc.close(file)
        guard isWritten else { throw FileFailure(.initialise, temporary, reason) }
        guard renameat(root, temporary, root, Self.marker) == 0, fsync(root) == 0 else {
            throw FileFailure(.initialise, Self.marker, errno)
        }
    }

    package func checkAttached() throws(FileFailure) {
        let root = try root(.attach)
        var own = stat()
        var found = stat()
        guard fstat(root, &own) == 0, stat(path, &found) == 0 else { throw FileFailure(.attach, "", errno) }
        guard own.st_dev == found.st_dev, own.st_ino == found.st_ino else { throw FileFailure(.attach, "", ENODEV) }
    }

    package func detach() {
        let old = state.withLock { state in
            defer { state = State() }
            return state
        }
        for file in old.files { Glibc.close(file.rawValue) }
        if let root = old.root { Glibc.close(root) }
    }

    package func space() throws(FileFailure) -> DiskSpace {
        let root = try root(.space)
        var status = statvfs()
        guard fstatvfs(root, &status) == 0 else { throw FileFailure(.space, "", errno) }
        return DiskSpace(
            free: Int64(clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).0),
            total: Int64(clamping: UInt64(status.f_blocks).multipliedReportingOverflow(by: UInt64(status.f_frsize)).0))
    }

    // MARK: Files

    package func create(_ path: String) throws(FileFailure) -> OpenFile {
        let root = try root(.create)
        // The group may read recordings, whatever the process's umask is. Disks without modes ignore that.
        if let end = path.lastIndex(of: "/") {
            let directory = String(path[..<end])
            if mkdirat(root, directory, 0o750) == 0 {
                fchmodat(root, directory, 0o750, 0)
            } else if errno != EEXIST {
                throw FileFailure(.create, directory, errno)
            }
        }
        let file = openat(root, path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o640)
        let opened = try keep(file, .create, path)
        fchmod(file, 0o640)
        return opened
    }

    package func open(_ path: String) throws(FileFailure) -> OpenFile {
        let root = try root(.open)
        return try keep(openat(root, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), .open, path)
    }

    private func keep(_ file: Int32, _ call: FileFailure.Call, _ path: String) throws(FileFailure) -> OpenFile {
        guard file >= 0 else { throw FileFailure(call, path, errno) }
        let file = OpenFile(rawValue: file)
        _ = state.withLock { $0.files.insert(file) }
        return file
    }

    package func close(_ file: OpenFile) {
        guard state.withLock({ $0.files.remove(file) }) != nil else { return }
        Glibc.close(file.rawValue)
    }

    package func write(_ buffers: [ByteBuffer], to file: OpenFile, at offset: Int64) throws(FileFailure) {
        var writer = VectorWrite(buffers: buffers, offset: offset)
        while !writer.isComplete {
            let count = writer.write { vectors, place in
                pwritev(file.rawValue, vectors.baseAddress, Int32(vectors.count), off_t(place))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileFailure(.write, "", count < 0 ? errno : EIO) }
        }
    }

    package func read(_ file: OpenFile, at offset: Int64, count: Int) throws(FileFailure) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: count)
        while buffer.readableBytes < count {
            let rest = count - buffer.readableBytes
            let place = off_t(offset) + off_t(buffer.readableBytes)
            var reason: Int32 = 0
            let taken = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: rest) { space in
                let taken = pread(file.rawValue, space.baseAddress, min(space.count, rest), place)
                if taken < 0 { reason = errno }
                return max(0, taken)
            }
            if reason == EINTR { continue }
            guard reason == 0 else { throw FileFailure(.read, "", reason) }
            if taken == 0 { break }
        }
        return buffer
    }

    package func sync(_ file: OpenFile) throws(FileFailure) {
        guard fdatasync(file.rawValue) == 0 else { throw FileFailure(.sync, "", errno) }
    }

    package func beginSync(_ file: OpenFile) {
        // SYNC_FILE_RANGE_WRITE for the whole file. What goes wrong, `sync` reports.
        _ = sync_file_range(file.rawValue, 0, 0, 2)
    }

    package func syncDirectory(_ path: String) throws(FileFailure) {
        let root = try root(.syncDirectory)
        let directory = openat(root, path.isEmpty ? "." : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw FileFailure(.syncDirectory, path, errno) }
        defer { Glibc.close(directory) }
        guard fsync(directory) == 0 else { throw FileFailure(.syncDirectory, path, errno) }
    }

    package func reserve(_ file: OpenFile, size: Int64) throws(FileFailure) -> Bool {
        // FALLOC_FL_KEEP_SIZE
        guard fallocate(file.rawValue, 1, 0, off_t(size)) == 0 else {
            if errno == EOPNOTSUPP || errno == ENOSYS { return false }
            throw FileFailure(.reserve, "", errno)
        }
        return true
    }

    package func truncate(_ file: OpenFile, to size: Int64) throws(FileFailure) {
        guard ftruncate(file.rawValue, off_t(size)) == 0 else { throw FileFailure(.truncate, "", errno) }
    }

    package func remove(_ path: String) throws(FileFailure) {
        let root = try root(.remove)
        guard unlinkat(root, path, 0) == 0 else { throw FileFailure(.remove, path, errno) }
    }

    package func size(of file: OpenFile) throws(FileFailure) -> Int64 {
        var status = stat()
        guard fstat(file.rawValue, &status) == 0 else { throw FileFailure(.size, "", errno) }
        return Int64(status.st_size)
    }

    package func list(_ directory: String) throws(FileFailure) -> [String] {
        let root = try root(.list)
        let descriptor = openat(root, directory.isEmpty ? "." : directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return [] }
            throw FileFailure(.list, directory, errno)
        }
        guard let stream = fdopendir(descriptor) else {
            Glibc.close(descriptor)
            throw FileFailure(.list, directory, errno)
        }
        defer { closedir(stream) }
        var names: [String] = []
        errno = 0
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw FileFailure(.list, directory, errno) }
        return names.sorted()
    }

    private func root(_ call: FileFailure.Call) throws(FileFailure) -> Int32 {
        guard let root = state.withLock({ $0.root }) else { throw FileFailure(call, "", ENODEV) }
        return root
    }
}
