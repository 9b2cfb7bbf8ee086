import Firmware
import Glibc
import IoTCore
import NIOPosix

/// A release on its way, in the directory from which it is installed. The download is `.download`; a whole
/// and verified one is renamed to `release`. Its work blocks, so it runs on the pool's threads, one call at a time.
final class BundleFile: Sendable {
    /// How often a file's size must be free: the file, its copy, and what is in it.
    private static let spaceFactor: Int64 = 4
    private static let reserve: Int64 = 64 << 20
    private static let chunkSize = 1 << 20

    private let parent: String?
    private let directory: String
    private let header: BundleHeader
    private let manifest: ReleaseManifest

    /// - Parameter parent: the directory in which `directory` is; it is made, too.
    init(directory: String, in parent: String?, _ signed: SignedManifest, _ manifest: ReleaseManifest) {
        self.directory = directory
        self.parent = parent
        header = BundleHeader(signed)
        self.manifest = manifest
    }

    private var download: String { directory + "/.download" }
    /// The only file that the program which installs it reads.
    private var release: String { directory + "/release" }

    /// Continues an earlier download of the same release, or begins a new one.
    ///
    /// - Returns: how many bytes of the release's file are here.
    /// - Throws: `boxSpaceUsed`, `fileFailed`.
    func begin() async throws(IoTError) -> Int64 {
        try await run { [self] () throws(IoTError) in
            // A camera's is in the box's.
            if let parent { try PrivateDirectory.make(parent) }
            try PrivateDirectory.make(directory)
            UpgradeReportFile(directory: directory).forget()
            let known = header.bytes
            let file = try open(O_RDWR | O_CREAT)
            defer { close(file) }
            var status = stat()
            guard fstat(file, &status) == 0 else { throw failure() }
            let size = Int64(status.st_size)
            var have: Int64 = 0
            if size >= Int64(known.count), try read(file, at: 0, count: known.count) == known {
                have = size - Int64(known.count)
            }
            if have == 0 || have > manifest.size {
                have = 0
                guard ftruncate(file, 0) == 0 else { throw failure() }
                try write(known, to: file, at: 0)
            }
            try checkSpace(have: have)
            return have
        }
    }

    /// - Parameter offset: in the release's file. What was behind it is gone.
    func append(_ bytes: [UInt8], at offset: Int64) async throws(IoTError) {
        try await run { [self] () throws(IoTError) in
            let file = try open(O_WRONLY)
            defer { close(file) }
            let place = Int64(header.bytes.count) + offset
            guard ftruncate(file, off_t(place)) == 0 else { throw failure() }
            try write(bytes, to: file, at: place)
        }
    }

    /// Compares the whole file with the manifest, and writes it to the disk. A file that differs is removed.
    ///
    /// - Throws: `releaseFileDiffers`, `fileFailed`.
    func verify() async throws(IoTError) {
        try await run { [self] () throws(IoTError) in
            let file = try open(O_RDONLY)
            defer { close(file) }
            do throws(IoTError) {
                try ReleaseFileCheck.run(manifest) { place throws(IoTError) in
                    try read(file, at: Int64(header.bytes.count) + place, count: Self.chunkSize)
                }
            } catch {
                if error.code == .releaseFileDiffers { unlink(download) }
                throw error
            }
            guard fsync(file) == 0 else { throw failure() }
        }
    }

    /// Gives the release to the program that installs it.
    func handOver() async throws(IoTError) {
        try await run { [self] () throws(IoTError) in
            try UpgradeReportFile(directory: directory).expect()
            guard rename(download, release) == 0 else { throw failure() }
            guard OpenFile.syncDirectory(directory) else { throw failure() }
        }
    }

    /// Bytes of the release's file.
    func read(at place: Int, count: Int) async throws(IoTError) -> [UInt8] {
        try await run { [self] () throws(IoTError) in
            let file = try open(O_RDONLY)
            defer { close(file) }
            return try read(file, at: Int64(header.bytes.count + place), count: count)
        }
    }

    /// It is installed, or somebody else has it.
    func remove() async {
        _ = try? await run { [download] in _ = unlink(download) }
    }

    // MARK: On a thread

    private func checkSpace(have: Int64) throws(IoTError) {
        guard let free = OpenFile.freeSpace(at: directory) else { throw failure() }
        let (needed, overflows) = manifest.size.multipliedReportingOverflow(by: Self.spaceFactor)
        guard !overflows, needed <= Int64.max - Self.reserve, free >= needed - have + Self.reserve else {
            throw IoTError(
                .boxSpaceUsed,
                "the release's \(manifest.size) bytes need four times as much space and 64 MiB; \(free) bytes are free")
        }
    }

    private func open(_ flags: Int32) throws(IoTError) -> Int32 {
        let file = Glibc.open(download, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failure() }
        return file
    }

    private func read(_ file: Int32, at place: Int64, count: Int) throws(IoTError) -> [UInt8] {
        guard let bytes = OpenFile.read(file, at: place, count: count) else { throw failure() }
        return bytes
    }

    private func write(_ bytes: [UInt8], to file: Int32, at place: Int64) throws(IoTError) {
        guard OpenFile.write(bytes, to: file, at: place) else { throw failure() }
    }

    private func failure() -> IoTError {
        let reason = errno
        if reason == ENOSPC || reason == EDQUOT { return IoTError(.boxSpaceUsed) }
        return IoTError(.fileFailed, "the release in \(directory) cannot be used: \(String(cString: strerror(reason)))")
    }

    private func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws(IoTError) -> Value
    ) async throws(IoTError) -> Value {
        do {
            return try await NIOThreadPool.singleton.runIfActive(work)
        } catch let error as IoTError {
            throw error
        } catch {
            throw IoTError(.stopping, underlying: error)
        }
    }
}
