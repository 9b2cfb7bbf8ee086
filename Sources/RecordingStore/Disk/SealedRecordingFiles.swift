import Glibc
package import NIOCore
package import Sealing
import Synchronization

/// Encrypts the files of a disk. Its places and sizes are those that the files would have without encryption, so that
/// nothing above knows of it. Files that are not encrypted are read as they are.
///
/// Only files that `create` made grow; to one that `open` found, only a short write over something is added, or the end
/// of a cut record. A write that failed has no effect, also if some of its bytes reached the disk.
package final class SealedRecordingFiles: RecordingFiles {
    private enum Contents {
        case plain
        /// `isNew`: its head waits for the first write.
        case sealed(SealedFile, isNew: Bool)
    }

    private let files: any RecordingFiles
    private let keys: [SealingKey]
    private let states: Mutex<[OpenFile: Contents]> = Mutex([:])

    /// - Parameter keys: the first one is for new files; without any, new files are not encrypted.
    package init(_ files: any RecordingFiles, keys: [SealingKey]) {
        self.files = files
        self.keys = keys
    }

    // MARK: The disk

    package func attach() throws(FileFailure) -> String? { try files.attach() }
    package func initialise(uuid: String) throws(FileFailure) { try files.initialise(uuid: uuid) }
    package func checkAttached() throws(FileFailure) { try files.checkAttached() }
    package func syncDirectory(_ path: String) throws(FileFailure) { try files.syncDirectory(path) }
    package func remove(_ path: String) throws(FileFailure) { try files.remove(path) }
    package func list(_ directory: String) throws(FileFailure) -> [String] { try files.list(directory) }
    package func space() throws(FileFailure) -> DiskSpace { try files.space() }

    package func detach() {
        states.withLock { $0 = [:] }
        files.detach()
    }

    // MARK: Files

    package func create(_ path: String) throws(FileFailure) -> OpenFile {
        let file = try files.create(path)
        let contents = keys.first.map { Contents.sealed(SealedFile(key: $0), isNew: true) } ?? .plain
        states.withLock { $0[file] = contents }
        return file
    }

    package func open(_ path: String) throws(FileFailure) -> OpenFile {
        let file = try files.open(path)
        do throws(FileFailure) {
            let contents = try contents(of: file, path)
            states.withLock { $0[file] = contents }
            return file
        } catch {
            files.close(file)
            throw error
        }
    }

    private func contents(of file: OpenFile, _ path: String) throws(FileFailure) -> Contents {
        let head = try files.read(file, at: 0, count: SealedFile.headSize)
        switch SealedFile.open(head: head, keys: keys) {
        case .plain: return .plain
        case .keyMissing: throw FileFailure(.open, path, ENOKEY)
        case .sealed(var sealed):
            let size = try files.size(of: file)
            while true {
                let next = sealed.nextHead
                guard next.upperBound <= size else { break }
                let head = try files.read(file, at: next.lowerBound, count: next.count)
                guard sealed.take(head: head, fileSize: size) else { break }
            }
            return .sealed(sealed, isNew: false)
        }
    }

    package func close(_ file: OpenFile) {
        states.withLock { $0[file] = nil }
        files.close(file)
    }

    package func sync(_ file: OpenFile) throws(FileFailure) { try files.sync(file) }
    package func beginSync(_ file: OpenFile) { files.beginSync(file) }

    package func write(_ buffers: [ByteBuffer], to file: OpenFile, at offset: Int64) throws(FileFailure) {
        guard case .sealed(let sealed, let isNew)? = state(of: file) else {
            return try files.write(buffers, to: file, at: offset)
        }
        var contents = ByteBufferAllocator().buffer(capacity: buffers.reduce(0) { $0 + $1.readableBytes })
        for buffer in buffers { contents.writeImmutableBuffer(buffer) }
        guard contents.readableBytes > 0 else { return }
        if offset == sealed.size {
            try append(contents, to: file, sealed, isNew: isNew)
        } else {
            guard let (place, bytes) = sealed.sealedSlot(contents, at: offset) else {
                throw FileFailure(.write, "", EINVAL)
            }
            try files.write([bytes], to: file, at: place)
            var sealed = sealed
            sealed.wroteSlot(contents, at: offset)
            set(.sealed(sealed, isNew: isNew), of: file)
        }
    }

    private func append(
        _ contents: ByteBuffer, to file: OpenFile, _ sealed: SealedFile, isNew: Bool
    ) throws(FileFailure) {
        guard contents.readableBytes <= SealedFile.longestRecord else { throw FileFailure(.write, "", EFBIG) }
        let (appended, bytes) = sealed.sealed(contents)
        if isNew {
            try files.write([sealed.head, bytes], to: file, at: 0)
        } else {
            try files.write([bytes], to: file, at: sealed.storedSize)
        }
        var sealed = sealed
        sealed.wrote(appended)
        set(.sealed(sealed, isNew: false), of: file)
    }

    package func read(_ file: OpenFile, at offset: Int64, count: Int) throws(FileFailure) -> ByteBuffer {
        guard case .sealed(let sealed, _)? = state(of: file) else {
            return try files.read(file, at: offset, count: count)
        }
        let parts = sealed.parts(of: offset..<offset + Int64(count))
        var result = ByteBuffer()
        for part in parts {
            let contents = try opened(part, of: sealed, in: file)
            if parts.count == 1 { return contents }
            result.writeImmutableBuffer(contents)
        }
        return result
    }

    private func opened(
        _ part: SealedFile.Part, of sealed: SealedFile, in file: OpenFile
    ) throws(FileFailure) -> ByteBuffer {
        let stored = try files.read(file, at: part.place, count: part.count)
        guard let contents = sealed.opened(part, stored) else { throw FileFailure(.read, "", EBADMSG) }
        return contents
    }

    package func size(of file: OpenFile) throws(FileFailure) -> Int64 {
        guard case .sealed(let sealed, _)? = state(of: file) else { return try files.size(of: file) }
        return sealed.size
    }

    package func cutTorn(_ file: OpenFile) throws(FileFailure) -> Int64 {
        guard case .sealed(var sealed, let isNew)? = state(of: file) else { return try files.cutTorn(file) }
        for part in sealed.wholeParts {
            do throws(FileFailure) {
                _ = try opened(part, of: sealed, in: file)
            } catch {
                guard error.isOfDamage else { throw error }
                _ = sealed.truncate(to: part.offset)
                break
            }
        }
        if try files.size(of: file) != sealed.storedSize { try files.truncate(file, to: sealed.storedSize) }
        set(.sealed(sealed, isNew: isNew), of: file)
        return sealed.size
    }

    package func reserve(_ file: OpenFile, size: Int64) throws(FileFailure) -> Bool {
        guard case .sealed? = state(of: file) else { return try files.reserve(file, size: size) }
        // For the heads and tags: a record has about 100 KiB or more.
        return try files.reserve(file, size: size + size / 1_024 + 4_096)
    }

    package func truncate(_ file: OpenFile, to size: Int64) throws(FileFailure) {
        guard case .sealed(let whole, let isNew)? = state(of: file) else {
            return try files.truncate(file, to: size)
        }
        guard size <= whole.size else { throw FileFailure(.truncate, "", EINVAL) }
        var sealed = whole
        var rest = ByteBuffer()
        if let range = sealed.truncate(to: size) {
            rest = try read(file, at: range.lowerBound, count: range.count)
        }
        try files.truncate(file, to: isNew ? 0 : sealed.storedSize)
        set(.sealed(sealed, isNew: isNew), of: file)
        if rest.readableBytes > 0 { try append(rest, to: file, sealed, isNew: isNew) }
    }

    // MARK: State

    private func state(of file: OpenFile) -> Contents? { states.withLock { $0[file] } }

    private func set(_ contents: Contents, of file: OpenFile) { states.withLock { $0[file] = contents } }
}
