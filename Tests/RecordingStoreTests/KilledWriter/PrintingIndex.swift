import Dispatch
import Glibc
import IoTCore
import RecordingStore

/// An index that prints what was synced, after it is stored: a line with the segment's id and the number of its
/// fragments.
struct PrintingIndex: RecordingIndexing {
    let index: RecordingIndex
    /// Signalled after each line.
    let synced: DispatchSemaphore

    func commit(_ changes: [IndexChange]) throws(IoTError) {
        try index.commit(changes)
        for change in changes {
            switch change {
            case .grow(let id, let extent), .finish(let id, let extent, _):
                // One call, so that a kill never leaves a part of a line.
                let line = Array("\(id.rawValue) \(extent.list.fragments.count)\n".utf8)
                guard write(STDOUT_FILENO, line, line.count) == line.count else { exit(1) }
                synced.signal()
            default: break
            }
        }
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
