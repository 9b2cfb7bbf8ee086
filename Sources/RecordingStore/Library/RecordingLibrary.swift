package import IoTCore
import Synchronization

/// The recordings of this box, for those who look for, read, keep and remove them. All calls block, except `remove`.
package final class RecordingLibrary: Sendable {
    /// The most kept ranges of a camera.
    package static let mostHolds = 1_000
    package static let longestNote = 256

    let index: RecordingIndex
    let disks: [LibraryDisk]
    let leases: SegmentLeases
    let streamCache = StreamCache()
    let pictureCache = PictureCache()
    /// The disks on which cameras are recorded, if that is not the first one.
    private let places = Mutex<[CameraNumber: Int]>([:])
    /// What tells the cameras' recorders that their owner changes.
    let ownerChanges = Mutex<[CameraNumber: @Sendable () -> Void]>([:])
    /// Held while an owner is noted.
    let ownerNotes = Mutex(())

    /// - Parameters:
    ///   - disks: at least one; the first one is that of cameras without another.
    ///   - leases: those of all disks.
    package init(index: RecordingIndex, disks: [LibraryDisk], leases: SegmentLeases) {
        self.leases = leases
        self.index = index
        self.disks = disks
    }

    // MARK: Disks

    /// The disk on which a camera is recorded. Earlier recordings may be on others.
    package func disk(of camera: CameraNumber) -> RecordingDisk {
        disks[places.withLock { $0[camera] } ?? 0].disk
    }

    /// The camera is recorded on the disk with this path, which is one of the library's.
    package func place(_ camera: CameraNumber, on path: String) {
        places.withLock { $0[camera] = disks.firstIndex { $0.path == path } }
    }

    /// The disk with a segment.
    private func disk(of id: SegmentID) throws(IoTError) -> LibraryDisk {
        guard let number = try index.disk(of: id) else { throw RecordingReader.removed(id) }
        for disk in disks where try index.disk(path: disk.path)?.id == number { return disk }
        throw IoTError(
            .recorderUnavailable, "the recording \(id) is on a disk that this box does not use now",
            remedy: "add its directory to recording.cameraDirectories, and restart the daemon")
    }

    /// The camera that the index knows by this name; `nil` if it was never recorded.
    package func camera(named name: String) throws(IoTError) -> CameraNumber? {
        try index.number(of: name)
    }

    // MARK: Lists

    /// The segments that overlap a time range. A growing one has the size and the duration that it has now.
    ///
    /// - Throws: `valueInvalid` for a wrong cursor, `storeFailed`.
    package func segments(_ query: RecordingQuery) throws(IoTError) -> RecordingPage<SegmentRecord> {
        var page = try index.segments(query)
        for (position, record) in page.entries.enumerated() { page.entries[position] = current(record).record }
        return page
    }

    /// The stretches without a gap in a time range.
    ///
    /// - Throws: `valueInvalid` for a wrong cursor, `storeFailed`.
    package func ranges(_ query: RecordingQuery) throws(IoTError) -> RecordingPage<RecordedRange> {
        try index.ranges(query)
    }

    /// The days with recordings in a time range.
    package func days(
        of camera: CameraNumber, in times: Range<Int64>, zone: any DayZone
    ) throws(IoTError) -> [RecordedDay] {
        try index.days(of: camera, in: times, zone: zone)
    }

    /// A segment with its fragments as they are now; `nil` if it does not exist.
    func segment(_ id: SegmentID) throws(IoTError) -> (record: SegmentRecord, list: FragmentList)? {
        guard let (stored, storedList) = try index.segment(id) else { return nil }
        let (record, list) = current(stored, list: storedList)
        return (record, list ?? storedList)
    }

    // MARK: Reading

    /// Opens a segment, also one that grows: then what was written so far. It is not removed until the result is released.
    ///
    /// - Throws: `downloadNotFound` if it does not exist, was removed, or is of an earlier owner; `downloadOpenFailed` if its file is missing;
    ///   `recorderUnavailable` if the disk is away or fails; `storeFailed`.
    package func open(_ id: SegmentID) throws(IoTError) -> OpenRecording {
        guard try index.isVisible(id) else { throw RecordingReader.removed(id) }
        let disk = try disk(of: id)
        return try RecordingReader(files: try disk.attached(to: index), index: index, leases: leases).open(id) {
            current($0, list: $1)
        }
    }

    /// A segment that grows, as it is now. The index knows it as it was in the last sync round.
    private func current(_ record: SegmentRecord, list: FragmentList? = nil) -> (
        record: SegmentRecord, list: FragmentList?
    ) {
        guard record.state == .open, let growing = newest(record.id.camera), growing.record.id == record.id else {
            return (record, list)
        }
        var current = record
        current.duration = min(growing.list.wallDuration, SegmentLimits.duration)
        current.byteCount = growing.list.byteCount
        return (current, growing.list)
    }

    /// The camera's growing segment, whoever may see it.
    func newest(_ camera: CameraNumber) -> (record: SegmentRecord, list: FragmentList)? {
        for disk in disks {
            if let growing = disk.disk.growing(camera) { return growing }
        }
        return nil
    }

    /// Compares the disks with the index. It only reads, and can take minutes.
    ///
    /// - Parameter isThorough: whether to read every file's fragments, too.
    /// - Throws: `recorderUnavailable` if the only disk is away or fails, `storeFailed`.
    package func check(isThorough: Bool) throws(IoTError) -> CheckReport {
        var report = CheckReport()
        for disk in disks {
            do throws(IoTError) {
                report.add(try disk.check(index, isThorough: isThorough))
            } catch {
                guard disks.count > 1, error.code == .recorderUnavailable else { throw error }
                report.add(.diskAway(path: disk.path, reason: error.message))
            }
        }
        return report
    }

    // MARK: Keeping and removing

    package func holds(of camera: CameraNumber) throws(IoTError) -> [HoldRecord] { try index.holds(of: camera) }

    /// Keeps the recordings of a time range: they are not removed, whatever their age and however full the disk.
    ///
    /// - Throws: `operationNotAllowed` if the camera has `mostHolds` already, `storeFailed`.
    package func keep(
        _ camera: CameraNumber, _ times: Range<Int64>, note: String, at now: Int64
    ) throws(IoTError) -> HoldRecord {
        guard try index.holds(of: camera).count < Self.mostHolds else {
            throw IoTError(
                .operationNotAllowed, "\(Self.mostHolds) time ranges of this camera are kept already",
                remedy: "release some of them")
        }
        let hold = HoldRecord(
            id: try index.nextHoldID(earliest: now), camera: camera, times: times, note: note)
        try index.commit([.hold(hold)])
        return hold
    }

    /// - Throws: `notFound` if the camera has no such kept range, `storeFailed`.
    package func release(_ id: Int64, of camera: CameraNumber) throws(IoTError) {
        guard try index.holds(of: camera).contains(where: { $0.id == id }) else {
            throw IoTError(
                .notFound, "this camera has no kept time range \(id)", remedy: "see `iotctl recording kept NAME`")
        }
        try index.commit([.release(id)])
    }

    /// Removes the segments that overlap a time range, also partly. Those that are kept, being read or growing stay.
    ///
    /// - Throws: as `RecordingDisk.remove`, after what the other disks have was removed. A disk that has nothing of the
    ///   camera does not matter.
    package func remove(_ camera: CameraNumber, in times: Range<Int64>) async throws(IoTError) -> RemovalReport {
        var (report, failure) = (RemovalReport(), nil as IoTError?)
        for disk in disks {
            do throws(IoTError) {
                report.add(try await disk.disk.remove(camera, in: times))
            } catch {
                if try has(camera, on: disk) { failure = error }
            }
        }
        if let failure { throw failure }
        return report
    }

    private func has(_ camera: CameraNumber, on place: LibraryDisk) throws(IoTError) -> Bool {
        guard let known = try index.disk(path: place.path) else { return false }
        return try index.usage(on: known.id)[camera, default: 0] > 0
    }

    // MARK: State

    /// What is on the disks of a camera, in bytes, with the segment that grows.
    package func usage(of camera: CameraNumber) -> Int64 {
        disks.reduce(0) { sum, place in
            sum + (place.disk.report.usage[camera] ?? 0) + (place.disk.growing(camera)?.list.byteCount ?? 0)
        }
    }

    package func limits(of camera: CameraNumber) -> CameraLimits { disk(of: camera).limits(of: camera) }
}
