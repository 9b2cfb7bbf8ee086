import Glibc
import IoTCore
import NIOCore

/// Writes the recordings of one disk, in an order that survives a crash at any moment (`docs/recording.md`, "The disk").
///
/// It makes blocking calls, but owns no thread and no clock: `RecordingDisk` runs it on the disk's own thread, the tests
/// in virtual time.
struct DiskWriter {
    /// How long after a failure the disk is tried again, in µs.
    static let retryInterval: Int64 = 2_000_000
    private static let fullInterval: Int64 = 1_000_000

    /// What became of a step.
    enum Outcome: Equatable {
        case done
        /// It cannot be written now. A step that ends a segment is never refused.
        case later
        /// A fragment after a gap that does not begin with a key frame: nobody could decode it.
        case dropped
    }

    let files: any RecordingFiles
    let index: any RecordingIndexing
    let scanner: any SegmentScanner
    let leases: SegmentLeases
    let clockState: DiskClock
    var configuration: DiskConfiguration

    private(set) var status: DiskStatus
    /// Since the last call; the owner takes them.
    var events: [RecordingEvent] = []
    var lanes: [CameraNumber: CameraLane] = [:]
    /// With a full disk: when a camera is tried again, on the monotonic clock in µs.
    private var retries: [CameraNumber: Int64] = [:]
    var endings: [EndingSegment] = []
    /// Directories with new or removed files since the last sync round.
    var changedDirectories: Set<String> = []
    /// Files that are removed, but not for certain.
    var garbage: [SegmentID] = []
    /// What happened at the cameras since the last sync round.
    var timelines: [CameraNumber: TimelineQueue] = [:]
    /// The bytes of complete segments.
    var usage: [CameraNumber: Int64] = [:]
    var disk: Int64 = 0
    /// Whether runs of this boot may have begun while the clock was not synchronised.
    private var mayHaveWrongTimes = true
    private var nextRound: Int64 = .max
    var nextAgeCheck: Int64 = .min

    init(
        files: any RecordingFiles, index: any RecordingIndexing, scanner: any SegmentScanner, leases: SegmentLeases,
        configuration: DiskConfiguration, clock: DiskClock = .unknown
    ) {
        clockState = clock
        self.files = files
        self.index = index
        self.scanner = scanner
        self.leases = leases
        self.configuration = configuration
        status = .paused(IoTError(.recorderUnavailable, "the disk was not opened yet"), until: .min)
    }

    /// When `tick` is due, on the monotonic clock in µs.
    var deadline: Int64 {
        switch status {
        case .paused(_, let until): until
        case .recording: nextRound
        }
    }

    /// When the first camera is tried again for which the disk was full, after `now`; `nil` without one.
    func nextRetry(after now: Int64) -> Int64? { retries.values.lazy.filter { $0 > now }.min() }

    /// The cameras for which the disk is full.
    var full: Set<CameraNumber> { Set(retries.keys) }

    /// Whether a fragment of the camera is not refused at once.
    func mayWrite(_ camera: CameraNumber, at now: Int64) -> Bool { retries[camera] ?? .min <= now }

    var isRecording: Bool {
        if case .recording = status { true } else { false }
    }

    /// The next sync round removes what exceeds them.
    mutating func set(_ limits: [CameraNumber: CameraLimits]) {
        guard limits != configuration.limits else { return }
        configuration.limits = limits
        nextAgeCheck = .min
    }

    /// Makes a sync round, or tries whether a paused disk is back.
    mutating func tick(at now: Moment) {
        guard now.monotonic >= deadline else { return }
        guard isRecording else { return attach(at: now) }
        attempt(at: now) { writer throws(DiskFailure) in
            try writer.syncRound()
            // Before anything is removed because of its age.
            try writer.correctTimes(at: now)
            try writer.applyLimits(at: now)
            writer.nextRound = now.monotonic + writer.configuration.sync.interval
        }
    }

    /// Writes the next step of a camera's queue.
    mutating func write(_ step: CameraQueue.Step, of camera: CameraNumber, at now: Moment) -> Outcome {
        guard isRecording else {
            if case .end = step { return .done }
            return .later
        }
        if !mayWrite(camera, at: now.monotonic), case .fragment = step { return .later }
        var outcome = Outcome.later
        attempt(at: now) { writer throws(DiskFailure) in
            outcome = try writer.perform(step, of: camera, at: now)
        }
        if case .end = step { return .done }
        return outcome
    }

    /// Completes all segments. Nothing may be written after this.
    mutating func stop(at now: Moment) {
        guard isRecording else {
            // The index is on another disk.
            try? index.commit(timelineChanges)
            return
        }
        attempt(at: now) { writer throws(DiskFailure) in
            for camera in writer.lanes.keys.sorted() { writer.finishOpen(camera, nil) }
            try writer.syncRound()
            let ends = writer.lanes.values.compactMap { $0.run.map { IndexChange.endRun($0.id, .stopped) } }
            try writer.commit(ends)
        }
        files.detach()
    }

    // MARK: Failures

    /// Runs a part of the work. If the disk or the index fails, the disk pauses: everything that is open is forgotten,
    /// and recovered from what is really on the disk when it is back.
    mutating func attempt(
        at now: Moment, _ body: (inout DiskWriter) throws(DiskFailure) -> Void
    ) {
        do {
            try body(&self)
        } catch {
            pause(error.error(disk: configuration.path), at: now)
        }
    }

    mutating func pause(_ error: IoTError, at now: Moment) {
        files.detach()
        for camera in lanes.keys {
            lanes[camera]?.open = nil
            // A commit that failed may be stored nevertheless.
            lanes[camera]?.next = nil
        }
        endings = []
        changedDirectories = []
        leases.endRemoval(of: garbage)
        garbage = []
        if isRecording || isFirstFailure { events.append(.paused(error)) }
        status = .paused(error, until: now.monotonic + Self.retryInterval)
    }

    private var isFirstFailure: Bool {
        if case .paused(_, until: .min) = status { true } else { false }
    }

    private mutating func attach(at now: Moment) {
        attempt(at: now) { writer throws(DiskFailure) in
            try writer.openDisk()
            try writer.recover()
            writer.status = .recording
            writer.nextRound = now.monotonic + writer.configuration.sync.interval
            writer.events.append(.resumed)
        }
    }

    /// Moves what was recorded with a wrong clock to its right time, once the clock is right.
    private mutating func correctTimes(at now: Moment) throws(DiskFailure) {
        guard mayHaveWrongTimes, clockState.isSynchronised() else { return }
        do {
            let correction = ClockCorrection(boot: clockState.boot, monotonic: now.monotonic, wall: now.wall)
            let moved = try index.apply(correction)
            if !moved.isEmpty { events.append(.corrected(runs: moved.count)) }
        } catch {
            throw .index(error)
        }
        mayHaveWrongTimes = false
    }

    func commit(_ changes: [IndexChange]) throws(DiskFailure) {
        do {
            try index.commit(changes)
        } catch {
            throw .index(error)
        }
    }

    // MARK: Segments

    private mutating func perform(
        _ step: CameraQueue.Step, of camera: CameraNumber, at now: Moment
    ) throws(DiskFailure) -> Outcome {
        switch step {
        case .end(let number, let ending):
            let fits = lanes[camera]?.open.map { $0.opening == number && $0.isWhole } ?? false
            if lanes[camera]?.open?.opening == number { finishOpen(camera, fits ? ending : nil) }
            return .done
        case .fragment(let fragment, let number, let opening, let isFirst, let afterGap):
            if let open = lanes[camera]?.open,
                open.opening != number || afterGap || open.isFull(for: fragment.facts)
            {
                finishOpen(camera, nil)
            }
            if lanes[camera]?.open == nil, !fragment.facts.startsWithKeyFrame { return .dropped }
            for _ in 0..<8 {
                do {
                    if lanes[camera]?.open == nil {
                        try open(camera, opening, number, fragment, isWhole: isFirst && !afterGap, at: now)
                    } else {
                        try append(fragment, to: camera)
                    }
                    retries[camera] = nil
                    return .done
                } catch {
                    if case .noRoom = error { break }
                    guard error.isOfSpace else { throw error }
                    // The reservation was too small, or somebody else fills the disk.
                    guard try remove(atLeast: configuration.firstReservation, of: nil, .space) > 0 else { break }
                }
            }
            if retries[camera] == nil { events.append(.full(camera)) }
            retries[camera] = now.monotonic + Self.fullInterval
            return .later
        }
    }

    private mutating func append(_ fragment: StoredFragment, to camera: CameraNumber) throws(DiskFailure) {
        guard let file = lanes[camera]?.open?.file, let end = lanes[camera]?.open?.list.byteCount else { return }
        // A failed write is repeated at the same place.
        try call { () throws(FileFailure) in
            try files.write(fragment.bytes, to: file, at: end)
        }
        lanes[camera]?.open?.list.append(fragment.facts)
        lanes[camera]?.open?.isChanged = true
    }

    /// The order: space; the row; the file; the first bytes. After a crash, a row without a file is forgotten.
    private mutating func open(
        _ camera: CameraNumber, _ opening: SegmentOpening, _ number: Int, _ fragment: StoredFragment, isWhole: Bool,
        at now: Moment
    ) throws(DiskFailure) {
        var lane = lanes[camera] ?? CameraLane()
        let reservation = max(lane.lastSize.map { $0 + $0 / 8 } ?? configuration.firstReservation, 4_096)
        guard try makeRoom(for: reservation, of: camera) else {
            throw .noRoom
        }
        let next: UInt32
        if let known = lane.next {
            next = known
        } else {
            do { next = try index.nextSegment(of: camera) } catch { throw .index(error) }
        }
        let id = SegmentID(camera: camera, number: next)
        var changes: [IndexChange] = []
        if lane.run?.facts != opening.run {
            if let run = lane.run { changes.append(.endRun(run.id, opening.run.previousEnd)) }
            lane.run = RunRecord(id: id, facts: opening.run)
            if opening.run.quality == .unsynchronised { mayHaveWrongTimes = true }
            changes.append(.beginRun(RunRecord(id: id, facts: opening.run)))
        }
        let record = SegmentRecord(
            id: id, run: lane.run?.id ?? id, disk: disk, start: fragment.facts.wallStart, reason: opening.reason)
        changes.append(.openSegment(record, sampleEntry: opening.sampleEntry))
        try commit(changes)
        lane.next = next + 1
        lanes[camera] = lane

        var list = FragmentList(headerSize: Int64(opening.header.readableBytes))
        var created: OpenFile?
        do throws(FileFailure) {
            let file = try files.create(id.path)
            created = file
            if changedDirectories.insert(id.directory).inserted { changedDirectories.insert("") }
            _ = try files.reserve(file, size: reservation)
            try files.write([opening.header] + fragment.bytes, to: file, at: 0)
            list.append(fragment.facts)
            lanes[camera]?.open = OpenSegment(
                record: record, file: file, opening: number, isWhole: isWhole, list: list)
        } catch {
            if let created { files.close(created) }
            if error.isOfSpace { try discard([record]) }
            throw .file(error)
        }
    }

    /// Ends the open segment, if any; the next sync round completes it.
    mutating func finishOpen(_ camera: CameraNumber, _ ending: SegmentEnding?) {
        guard let open = lanes[camera]?.open else { return }
        lanes[camera]?.open = nil
        lanes[camera]?.lastSize = open.list.byteCount
        var ended = EndingSegment(segment: open, size: open.list.byteCount, ending: nil)
        if let ending {
            do {
                try files.write([ending.tail], to: open.file, at: open.list.byteCount)
                ended.size += Int64(ending.tail.readableBytes)
                ended.ending = ending
            } catch {
                // The segment stays without its closing part, and the round finds out what is wrong with the disk.
            }
        }
        endings.append(ended)
    }

    /// Removes the file that was begun last.
    mutating func removeOpen(_ camera: CameraNumber, at now: Moment) {
        guard let open = lanes[camera]?.open else { return }
        lanes[camera]?.open = nil
        files.close(open.file)
        attempt(at: now) { writer throws(DiskFailure) in try writer.discard([open.record]) }
    }

    func call<Value>(_ body: () throws(FileFailure) -> Value) throws(DiskFailure) -> Value {
        do { return try body() } catch { throw .file(error) }
    }
}
