import Dispatch
public import Firmware
import Glibc
public import IoTCore

/// The files of releases, in a directory of the hub. A file's name is its release's id.
///
/// Files block, so their work has a queue of its own. What waits there is bounded by the gateway's requests in progress.
public final class ReleaseStore: Sendable {
    /// What the disk must keep free, in bytes.
    private static let reserve: Int64 = 64 << 20
    private static let chunkSize = 1 << 20

    private let directory: String
    private let queue = DispatchQueue(label: "hub.releases")

    /// - Parameter directory: made with the first file.
    init(directory: String) {
        self.directory = directory
    }

    /// How many bytes of a release's file are here.
    public func size(of id: String) async -> Int64 {
        await work { [self] in
            var status = stat()
            return stat(path(id), &status) == 0 ? Int64(status.st_size) : 0
        }
    }

    /// Writes the next part of a file.
    ///
    /// - Returns: how many bytes of it are here now.
    /// - Throws: `stateMismatch` if the part does not begin where the file ends, `releaseFileDiffers` if it has more
    ///   bytes than the manifest says, `releaseSpaceUsed`, `fileFailed`.
    public func write(
        _ bytes: [UInt8], at offset: Int64, of id: String, _ manifest: ReleaseManifest
    ) async throws(IoTError) -> Int64 {
        try await work { [self] () -> Result<Int64, IoTError> in
            Result { () throws(IoTError) in try append(bytes, at: offset, of: id, manifest) }
        }.get()
    }

    /// Compares a whole file with the manifest, and writes it to the disk. A file that differs is removed.
    ///
    /// - Throws: `releaseFileDiffers`, `fileFailed`.
    public func verify(_ id: String, _ manifest: ReleaseManifest) async throws(IoTError) {
        try await work { [self] () -> Result<Void, IoTError> in
            Result { () throws(IoTError) in
                do throws(IoTError) {
                    try compare(id, manifest)
                } catch {
                    if error.code == .releaseFileDiffers { unlink(path(id)) }
                    throw error
                }
            }
        }.get()
    }

    /// Reads a part of a file: at most `count` bytes, none at its end.
    ///
    /// - Throws: `fileFailed`.
    public func read(_ id: String, at offset: Int64, count: Int) async throws(IoTError) -> [UInt8] {
        try await work { [self] () -> Result<[UInt8], IoTError> in
            Result { () throws(IoTError) in
                let file = try open(id, O_RDONLY)
                defer { close(file) }
                return try bytes(file, id, at: offset, count: min(count, Self.chunkSize))
            }
        }.get()
    }

    /// Removes the files of all releases but these.
    public func keepOnly(_ ids: Set<String>) async {
        await work { [self] in
            guard let listing = opendir(directory) else { return }
            defer { closedir(listing) }
            while let entry = readdir(listing) {
                let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                if Self.isID(name), !ids.contains(name) { unlink(path(name)) }
            }
        }
    }

    // MARK: On the queue

    private func append(
        _ bytes: [UInt8], at offset: Int64, of id: String, _ manifest: ReleaseManifest
    ) throws(IoTError) -> Int64 {
        try PrivateDirectory.make(directory)
        let file = try open(id, O_WRONLY | O_CREAT)
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw failure(id) }
        let size = Int64(status.st_size)
        guard offset == size else {
            throw IoTError(
                .stateMismatch, "\(size) bytes of the file are here, and the next part must begin there",
                remedy: "ask for the release's 'received', and continue from there")
        }
        guard Int64(bytes.count) <= manifest.size - size else {
            throw IoTError(
                .releaseFileDiffers, "the file has more than the \(manifest.size) bytes of the release's manifest")
        }
        try checkSpace(for: manifest.size - size)
        guard OpenFile.write(bytes, to: file, at: offset) else {
            let error = errno == ENOSPC || errno == EDQUOT ? Self.noSpace : failure(id)
            // The next attempt begins at the same place.
            ftruncate(file, off_t(size))
            throw error
        }
        return size + Int64(bytes.count)
    }

    private func compare(_ id: String, _ manifest: ReleaseManifest) throws(IoTError) {
        let file = try open(id, O_RDONLY)
        defer { close(file) }
        try ReleaseFileCheck.run(manifest) { place throws(IoTError) in
            try bytes(file, id, at: place, count: Self.chunkSize)
        }
        guard fsync(file) == 0 else { throw failure(id) }
        guard OpenFile.syncDirectory(directory) else { throw failure(id) }
    }

    private func checkSpace(for bytes: Int64) throws(IoTError) {
        guard let free = OpenFile.freeSpace(at: directory) else { return }
        guard free - Self.reserve >= bytes else { throw Self.noSpace }
    }

    private static var noSpace: IoTError {
        IoTError(
            .releaseSpaceUsed, "the hub's disk has no space for the file",
            remedy: "remove old releases with `iotctl firmware release remove`, or free the disk otherwise")
    }

    private func bytes(_ file: Int32, _ id: String, at place: Int64, count: Int) throws(IoTError) -> [UInt8] {
        guard let bytes = OpenFile.read(file, at: place, count: count) else { throw failure(id) }
        return bytes
    }

    private func open(_ id: String, _ flags: Int32) throws(IoTError) -> Int32 {
        guard Self.isID(id) else { throw IoTError(.internalFailure, "a release's id is not one") }
        let file = Glibc.open(path(id), flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failure(id) }
        return file
    }

    private func failure(_ id: String) -> IoTError {
        IoTError(.fileFailed, "the release's file \(path(id)) cannot be used: \(String(cString: strerror(errno)))")
    }

    private func path(_ id: String) -> String { directory + "/" + id }

    private static func isID(_ text: String) -> Bool { text.utf8.count == 32 && Hex.decode(text) != nil }

    private func work<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in queue.async { continuation.resume(returning: body()) } }
    }
}
