import Glibc
import NIOCore
import Synchronization

@testable import RecordingStore

/// One change of a disk or of the index, in the order in which it happened.
enum DiskOperation: Sendable {
    case initialise(uuid: String)
    case create(path: String, inode: Int)
    case write(inode: Int, offset: Int, bytes: [UInt8])
    case truncate(inode: Int, size: Int)
    case sync(inode: Int)
    case syncDirectory(String)
    case remove(path: String)
    /// Durable, because the index syncs its commits.
    case commit([IndexChange])
    /// A sync round ended: what was written before must be readable after any crash.
    case roundEnded
}

/// A disk in memory. It logs each change, fails at any call, and can be built from a log as it may be after a crash.
final class LoggedDisk: RecordingFiles {
    struct Failure {
        var call: FileFailure.Call
        /// The number of this kind of call at which to fail, from 0.
        var number: Int
        var reason: Int32
        /// The part of a write that happens nevertheless.
        var written = 0.5
        /// How many of these calls fail.
        var count = 1
    }

    struct State {
        var marker: String?
        var names: [String: Int] = [:]
        var inodes: [Int: [UInt8]] = [:]
        var handles: [Int32: Int] = [:]
        var nextInode = 1
        var nextHandle: Int32 = 3
        var log: [DiskOperation] = []
        var calls: [FileFailure.Call: Int] = [:]
        var writeCalls = 0
        var failure: Failure?
        var isAway = false
        var isBare = false
        var capacity = Int64.max
        var writesWithoutMarker = 0
        /// The files of which a sync began since the last one ended, and the most of them so far.
        var begunSyncs = 0
        var mostBegunSyncs = 0
    }

    let state: Mutex<State>

    init(_ state: State = State()) {
        self.state = Mutex(state)
    }

    var log: [DiskOperation] { state.withLock { $0.log } }

    func record(_ operation: DiskOperation) {
        state.withLock { $0.log.append(operation) }
    }

    func contents(_ path: String) -> [UInt8]? {
        state.withLock { state in state.names[path].flatMap { state.inodes[$0] } }
    }

    var paths: [String] { state.withLock { $0.names.keys.sorted() } }

    /// Fails the call if it is its turn.
    private func run<Value: Sendable>(
        _ call: FileFailure.Call, _ path: String = "", _ body: (inout State) -> Result<Value, FileFailure>
    ) throws(FileFailure) -> Value {
        let result: Result<Value, FileFailure> = state.withLock { state in
            let number = state.calls[call, default: 0]
            state.calls[call] = number + 1
            if state.isAway || (state.isBare && call != .attach && call != .initialise) {
                return .failure(FileFailure(call, path, state.isAway ? EIO : ENODEV))
            }
            if let failure = state.failure, failure.call == call, number >= failure.number,
                number < failure.number + failure.count, call != .write
            {
                return .failure(FileFailure(call, path, failure.reason))
            }
            return body(&state)
        }
        return try result.get()
    }

    // MARK: The disk

    func attach() throws(FileFailure) -> String? {
        try run(.attach) { .success($0.isBare ? nil : $0.marker) }
    }

    func initialise(uuid: String) throws(FileFailure) {
        try run(.initialise) { state -> Result<Void, FileFailure> in
            if state.isBare { state.writesWithoutMarker += 1 }
            state.marker = uuid
            state.log.append(.initialise(uuid: uuid))
            return .success(())
        }
    }

    func checkAttached() throws(FileFailure) {
        try run(.attach) { _ in .success(()) }
    }

    func detach() {
        state.withLock { $0.handles = [:] }
    }

    func space() throws(FileFailure) -> DiskSpace {
        try run(.space) { state in
            .success(DiskSpace(free: state.capacity - Self.used(state), total: state.capacity))
        }
    }

    private static func used(_ state: State) -> Int64 {
        state.names.values.reduce(0) { $0 + Int64(state.inodes[$1]?.count ?? 0) }
    }

    // MARK: Files

    func create(_ path: String) throws(FileFailure) -> OpenFile {
        try run(.create, path) { state -> Result<OpenFile, FileFailure> in
            let inode = state.nextInode
            state.nextInode += 1
            state.names[path] = inode
            state.inodes[inode] = []
            state.log.append(.create(path: path, inode: inode))
            return .success(Self.handle(inode, &state))
        }
    }

    func open(_ path: String) throws(FileFailure) -> OpenFile {
        try run(.open, path) { state -> Result<OpenFile, FileFailure> in
            guard let inode = state.names[path] else { return .failure(FileFailure(.open, path, ENOENT)) }
            return .success(Self.handle(inode, &state))
        }
    }

    private static func handle(_ inode: Int, _ state: inout State) -> OpenFile {
        defer { state.nextHandle += 1 }
        state.handles[state.nextHandle] = inode
        return OpenFile(rawValue: state.nextHandle)
    }

    func close(_ file: OpenFile) {
        state.withLock { $0.handles[file.rawValue] = nil }
    }

    func write(_ buffers: [ByteBuffer], to file: OpenFile, at offset: Int64) throws(FileFailure) {
        try run(.write) { state -> Result<Void, FileFailure> in
            guard let inode = state.handles[file.rawValue] else { return .failure(FileFailure(.write, "", EBADF)) }
            var bytes = buffers.flatMap { $0.readableBytesView }
            let number = state.writeCalls
            state.writeCalls += 1
            var error: FileFailure?
            if let failure = state.failure, failure.call == .write, number >= failure.number,
                number < failure.number + failure.count
            {
                error = FileFailure(.write, "", failure.reason)
                bytes = Array(bytes.prefix(Int(Double(bytes.count) * failure.written)))
            }
            let free = Int(clamping: state.capacity - Self.used(state))
            if bytes.count > free {
                bytes = Array(bytes.prefix(max(0, free)))
                error = FileFailure(.write, "", ENOSPC)
            }
            Self.store(bytes, at: Int(offset), in: &state.inodes[inode, default: []])
            state.log.append(.write(inode: inode, offset: Int(offset), bytes: bytes))
            if let error { return .failure(error) }
            return .success(())
        }
    }

    static func store(_ bytes: [UInt8], at offset: Int, in contents: inout [UInt8]) {
        let end = offset + bytes.count
        if contents.count < end { contents += [UInt8](repeating: 0, count: end - contents.count) }
        contents.replaceSubrange(offset..<end, with: bytes)
    }

    func read(_ file: OpenFile, at offset: Int64, count: Int) throws(FileFailure) -> ByteBuffer {
        try run(.read) { state -> Result<ByteBuffer, FileFailure> in
            guard let inode = state.handles[file.rawValue] else { return .failure(FileFailure(.read, "", EBADF)) }
            return .success(ByteBuffer(bytes: (state.inodes[inode] ?? []).dropFirst(Int(offset)).prefix(count)))
        }
    }

    func beginSync(_ file: OpenFile) {
        state.withLock { state in
            state.begunSyncs += 1
            state.mostBegunSyncs = max(state.mostBegunSyncs, state.begunSyncs)
        }
    }

    func sync(_ file: OpenFile) throws(FileFailure) {
        state.withLock { $0.begunSyncs = 0 }
        try run(.sync) { state -> Result<Void, FileFailure> in
            guard let inode = state.handles[file.rawValue] else { return .failure(FileFailure(.sync, "", EBADF)) }
            state.log.append(.sync(inode: inode))
            return .success(())
        }
    }

    func syncDirectory(_ path: String) throws(FileFailure) {
        try run(.syncDirectory, path) { state -> Result<Void, FileFailure> in
            state.log.append(.syncDirectory(path))
            return .success(())
        }
    }

    func reserve(_ file: OpenFile, size: Int64) throws(FileFailure) -> Bool {
        try run(.reserve) { _ in .success(true) }
    }

    func truncate(_ file: OpenFile, to size: Int64) throws(FileFailure) {
        try run(.truncate) { state -> Result<Void, FileFailure> in
            guard let inode = state.handles[file.rawValue] else { return .failure(FileFailure(.truncate, "", EBADF)) }
            Self.resize(&state.inodes[inode, default: []], to: Int(size))
            state.log.append(.truncate(inode: inode, size: Int(size)))
            return .success(())
        }
    }

    static func resize(_ contents: inout [UInt8], to size: Int) {
        contents = Array(contents.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - contents.count))
    }

    func remove(_ path: String) throws(FileFailure) {
        try run(.remove, path) { state -> Result<Void, FileFailure> in
            guard state.names.removeValue(forKey: path) != nil else {
                return .failure(FileFailure(.remove, path, ENOENT))
            }
            state.log.append(.remove(path: path))
            return .success(())
        }
    }

    func size(of file: OpenFile) throws(FileFailure) -> Int64 {
        try run(.size) { state in
            .success(Int64(state.handles[file.rawValue].flatMap { state.inodes[$0] }?.count ?? 0))
        }
    }

    func list(_ directory: String) throws(FileFailure) -> [String] {
        try run(.list, directory) { state -> Result<[String], FileFailure> in
            if directory.isEmpty {
                return .success(Set(state.names.keys.map { String($0.prefix { $0 != "/" }) }).sorted())
            }
            let prefix = directory + "/"
            return .success(
                state.names.keys.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }.sorted())
        }
    }
}
