package import IoTCore

/// What the writer of a disk needs of the index. The tests put a logging index in its place.
package protocol RecordingIndexing: Sendable {
    /// Stores the changes, in order: all of them, or none. When this returns they are on the disk.
    func commit(_ changes: [IndexChange]) throws(IoTError)

    /// The disk that was used under this path last.
    func disk(path: String) throws(IoTError) -> DiskRecord?
    func disk(uuid: String) throws(IoTError) -> DiskRecord?
    /// An id for a disk that has none yet.
    func nextDiskID() throws(IoTError) -> Int64

    /// The number of the camera's next segment.
    func nextSegment(of camera: CameraNumber) throws(IoTError) -> UInt32

    /// The open segments of a disk, with their fragments as of the last sync round.
    func openSegments(on disk: Int64) throws(IoTError) -> [(record: SegmentRecord, list: FragmentList)]
    /// The runs of the disk's cameras that have no end yet.
    func openRuns(of cameras: Set<CameraNumber>) throws(IoTError) -> [SegmentID]
    /// The runs of a boot that began while the clock was not synchronised.
    func runsToCorrect(boot: String) throws(IoTError) -> [RunRecord]
    func garbage(on disk: Int64) throws(IoTError) -> [SegmentID]
    /// The bytes of each camera's segments on a disk.
    func usage(on disk: Int64) throws(IoTError) -> [CameraNumber: Int64]

    /// The segments to remove first: those of the lowest reason, the oldest first. Not among them: open and kept
    /// segments, and those of `leases`.
    ///
    /// - Parameters:
    ///   - camera: `nil` for all cameras of the disk.
    ///   - before: only segments that ended before this time, µs since 1970.
    func removable(
        on disk: Int64, camera: CameraNumber?, before: Int64, leases: Set<SegmentID>, limit: Int
    ) throws(IoTError) -> [SegmentRecord]

    /// The camera's segments that overlap a time range, with whether they are kept, in the order of their ids.
    ///
    /// - Parameters:
    ///   - times: µs since 1970.
    ///   - after: only segments with larger ids.
    func overlapping(
        _ camera: CameraNumber, _ times: Range<Int64>, after: SegmentID?, limit: Int
    ) throws(IoTError) -> [(record: SegmentRecord, isKept: Bool)]
}
