package import IoTCore

/// The recordings of this box, for those who look for, read, keep and remove them. All calls block, except `remove`.
package final class RecordingLibrary: Sendable {
    /// The most kept ranges of a camera.
    package static let mostHolds = 1_000
    package static let longestNote = 256

    let index: RecordingIndex
    let disk: RecordingDisk
    let leases: SegmentLeases
    let streamCache = StreamCache()
    let pictureCache = PictureCache()
    private let path: String
    private let makeFiles: @Sendable () -> any RecordingFiles

    /// - Parameters:
    ///   - disk: the disk that records.
    ///   - leases: those of that disk.
    ///   - path: the disk's directory.
    ///   - makeFiles: files of this disk that are not attached. Each reader gets its own, so that a disk that is lost and
    ///     comes back concerns only those who read from it.
    package init(
        index: RecordingIndex, disk: RecordingDisk, leases: SegmentLeases, path: String,
        makeFiles: @escaping @Sendable () -> any RecordingFiles
    ) {
        self.index = index
        self.disk = disk
        self.leases = leases
        self.path = path
        self.makeFiles = makeFiles
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
        let files = makeFiles()
        try attach(files)
        return try RecordingReader(files: files, index: index, leases: leases).open(id) { current($0, list: $1) }
    }

    /// A segment that grows, as it is now. The index knows it as it was in the last sync round.
    private func current(_ record: SegmentRecord, list: FragmentList? = nil) -> (
        record: SegmentRecord, list: FragmentList?
    ) {
        guard record.state == .open, let growing = disk.growing(record.id.camera), growing.record.id == record.id else {
            return (record, list)
        }
        var current = record
        current.duration = min(growing.list.wallDuration, SegmentLimits.duration)
        current.byteCount = growing.list.byteCount
        return (current, growing.list)
    }

    private func attach(_ files: any RecordingFiles) throws(IoTError) {
        let uuid: String?
        do { uuid = try files.attach() } catch { throw error.error(disk: path) }
        guard let uuid, try index.disk(uuid: uuid) != nil else {
            throw DiskFailure.wrongDisk("is not the recording disk").error(disk: path)
        }
    }

    /// Compares the disk with the index. It only reads, and can take minutes.
    ///
    /// - Parameter isThorough: whether to read every file's fragments, too.
    /// - Throws: `recorderUnavailable` if the disk is away or fails, `storeFailed`.
    package func check(isThorough: Bool) throws(IoTError) -> CheckReport {
        let files = makeFiles()
        try attach(files)
        guard let known = try index.disk(path: path) else {
            throw DiskFailure.wrongDisk("was not used yet").error(disk: path)
        }
        return try DiskCheck(files: files, index: index, scanner: MP4SegmentScanner()).run(
            disk: known.id, isThorough: isThorough)
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
            throw IoTError(.notFound, "this camera has no kept time range \(id)", remedy: "list the kept time ranges")
        }
        try index.commit([.release(id)])
    }

    /// Removes the segments that overlap a time range, also partly. Those that are kept, being read or growing stay.
    ///
    /// - Throws: as `RecordingDisk.remove`.
    package func remove(_ camera: CameraNumber, in times: Range<Int64>) async throws(IoTError) -> RemovalReport {
        try await disk.remove(camera, in: times)
    }

    // MARK: State

    package var report: RecordingDisk.Report { disk.report }

    package func limits(of camera: CameraNumber) -> CameraLimits { disk.limits(of: camera) }
}
