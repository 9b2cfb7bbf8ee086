import IoTCore
import TestSupport

@testable import RecordingStore

/// A disk and its index as a crash may leave them: what was synced is there; of the rest, each operation may be there,
/// missing, or half done.
struct CrashedDisk {
    enum Unsynced: CaseIterable, Sendable {
        /// All of it is there: the program was killed.
        case kept
        case dropped
        /// Each operation is kept, dropped, or torn into sectors of which any may be missing.
        case torn
    }

    let disk: LoggedDisk
    let index: RecordingIndex

    init(_ log: ArraySlice<DiskOperation>, _ unsynced: Unsynced, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var state = LoggedDisk.State()
        var changes: [IndexChange] = []
        let synced = Self.syncedOperations(log)
        for (position, operation) in zip(log.indices, log) {
            let isSynced = synced.contains(position)
            let fate: Unsynced =
                isSynced || unsynced == .kept
                ? .kept : unsynced == .dropped ? .dropped : [.kept, .dropped, .torn].randomElement(using: &random)!
            switch operation {
            case .initialise(let uuid): state.marker = uuid
            case .commit(let commit): changes += commit
            case .create(let path, let inode):
                state.inodes[inode] = []
                state.nextInode = max(state.nextInode, inode + 1)
                if fate != .dropped { state.names[path] = inode }
            case .remove(let path):
                if fate != .dropped { state.names[path] = nil }
            case .truncate(let inode, let size):
                if fate != .dropped { LoggedDisk.resize(&state.inodes[inode, default: []], to: size) }
            case .write(let inode, let offset, let bytes):
                switch fate {
                case .kept: LoggedDisk.store(bytes, at: offset, in: &state.inodes[inode, default: []])
                case .dropped: break
                case .torn:
                    // The size may grow although the data is missing; then it reads as zeros.
                    for start in stride(from: 0, to: bytes.count, by: 512) where Bool.random(using: &random) {
                        LoggedDisk.store(
                            Array(bytes[start..<min(start + 512, bytes.count)]), at: offset + start,
                            in: &state.inodes[inode, default: []])
                    }
                }
            case .sync, .syncDirectory, .roundEnded: break
            }
        }
        disk = LoggedDisk(state)
        index = try RecordingIndex(path: nil)
        try index.commit(changes)
    }

    /// The positions of the operations that later syncs made durable.
    private static func syncedOperations(_ log: ArraySlice<DiskOperation>) -> Set<Int> {
        var synced: Set<Int> = []
        var ofInode: [Int: [Int]] = [:]
        var ofDirectory: [String: [Int]] = [:]
        for (position, operation) in zip(log.indices, log) {
            switch operation {
            case .write(let inode, _, _), .truncate(let inode, _): ofInode[inode, default: []].append(position)
            case .create(let path, _), .remove(let path):
                ofDirectory[String(path.prefix { $0 != "/" }), default: []].append(position)
            case .sync(let inode): synced.formUnion(ofInode.removeValue(forKey: inode) ?? [])
            case .syncDirectory(let path): synced.formUnion(ofDirectory.removeValue(forKey: path) ?? [])
            case .initialise, .commit, .roundEnded: synced.insert(position)
            }
        }
        return synced
    }
}

/// An index whose commits are in the disk's log.
struct LoggedIndex: RecordingIndexing {
    let index: RecordingIndex
    let disk: LoggedDisk
    var beforeCommit: @Sendable ([IndexChange]) throws(IoTError) -> Void = { _ in }

    func commit(_ changes: [IndexChange]) throws(IoTError) {
        guard !changes.isEmpty else { return }
        try beforeCommit(changes)
        try index.commit(changes)
        disk.record(.commit(changes))
    }

    func disk(path: String) throws(IoTError) -> DiskRecord? { try index.disk(path: path) }
    func disk(uuid: String) throws(IoTError) -> DiskRecord? { try index.disk(uuid: uuid) }
    func nextDiskID() throws(IoTError) -> Int64 { try index.nextDiskID() }
    func nextSegment(of camera: CameraNumber) throws(IoTError) -> UInt32 { try index.nextSegment(of: camera) }
    func openSegments(on disk: Int64) throws(IoTError) -> [(record: SegmentRecord, list: FragmentList)] {
        try index.openSegments(on: disk)
    }
    func openRuns(of cameras: Set<CameraNumber>) throws(IoTError) -> [SegmentID] { try index.openRuns(of: cameras) }
    func runsToCorrect(boot: String) throws(IoTError) -> [RunRecord] { try index.runsToCorrect(boot: boot) }
    func garbage(on disk: Int64) throws(IoTError) -> [SegmentID] { try index.garbage(on: disk) }
    func usage(on disk: Int64) throws(IoTError) -> [CameraNumber: Int64] { try index.usage(on: disk) }
    func removable(
        on disk: Int64, camera: CameraNumber?, before: Int64, leases: Set<SegmentID>, limit: Int
    ) throws(IoTError) -> [SegmentRecord] {
        try index.removable(on: disk, camera: camera, before: before, leases: leases, limit: limit)
    }
    func overlapping(
        _ camera: CameraNumber, _ times: Range<Int64>, after: SegmentID?, limit: Int
    ) throws(IoTError) -> [(record: SegmentRecord, isKept: Bool)] {
        try index.overlapping(camera, times, after: after, limit: limit)
    }
}
