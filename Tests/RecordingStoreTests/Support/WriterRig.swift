import IoTCore
import Sealing
import TestSupport

@testable import RecordingStore

/// A writer on a disk in memory, in virtual time, with cameras that deliver a fragment a second.
struct WriterRig {
    let disk: LoggedDisk
    /// The disk, or what encrypts its files.
    let files: any RecordingFiles
    let index: RecordingIndex
    let leases = SegmentLeases()
    var writer: DiskWriter
    var queues: [CameraNumber: CameraQueue] = [:]
    var now = Moment(monotonic: 1_000_000_000, wall: 1_764_000_000_000_000)
    var events: [RecordingEvent] = []
    var dropped = 0
    private var fragments: [CameraNumber: Int] = [:]
    private var runs: [CameraNumber: RunFacts] = [:]

    init(
        disk: LoggedDisk = LoggedDisk(), index: RecordingIndex? = nil, floor: Int64 = 0,
        limits: [CameraNumber: CameraLimits] = [:], sync: SyncMode = .normal, later: Int64 = 0,
        keys: [SealingKey]? = nil, clock: DiskClock = .unknown
    ) throws {
        self.disk = disk
        files = keys.map { SealedRecordingFiles(disk, keys: $0) } ?? disk
        self.index = try index ?? RecordingIndex(path: nil)
        now.monotonic += later
        now.wall += later
        var configuration = DiskConfiguration(path: "/disk")
        configuration.floor = floor
        configuration.limits = limits
        configuration.sync = sync
        configuration.firstReservation = 4_096
        configuration.memory = 20_000
        writer = DiskWriter(
            files: files, index: LoggedIndex(index: self.index, disk: disk), scanner: PlainScanner(), leases: leases,
            configuration: configuration, clock: clock)
        if index == nil {
            let cameras: [IndexChange] = [.putCamera(.front, name: "front"), .putCamera(.yard, name: "yard")]
            try LoggedIndex(index: self.index, disk: disk).commit(cameras)
        }
        tick()
    }

    mutating func tick() {
        let isRound = writer.isRecording && now.monotonic >= writer.deadline
        writer.tick(at: now)
        if isRound, writer.isRecording { disk.record(.roundEnded) }
        takeEvents()
    }

    private mutating func takeEvents() {
        events += writer.events
        writer.events = []
    }

    /// One second: each camera delivers a fragment, and the writer writes what waits.
    ///
    /// - Parameter segment: the length of segments, in seconds.
    mutating func second(_ cameras: [CameraNumber] = [.front, .yard], segment: Int = 4, size: Int = 900) {
        for (position, camera) in cameras.enumerated() {
            let number = fragments[camera, default: 0]
            fragments[camera] = number + 1
            var queue = queues[camera] ?? CameraQueue(limit: writer.configuration.memory)
            // The cameras' segments begin at different times.
            if (number + position) % segment == 0 || number == 0 {
                if number > 0 { queue.end(PlainSegment.ending) }
                let run = runs[camera] ?? .sample(at: now.wall)
                runs[camera] = run
                queue.begin(
                    SegmentOpening(
                        header: PlainSegment.header, sampleEntry: [UInt8(camera.rawValue)], run: run,
                        reason: number % 3 == 0 ? .event : .continuous))
            }
            let lost = queue.append(
                PlainSegment.fragment(number, wall: now.wall, media: Int64(number) * 1_000_000, size: size))
            dropped += lost?.count ?? 0
            queues[camera] = queue
        }
        drain()
        now.monotonic += 1_000_000
        now.wall += 1_000_000
        tick()
    }

    /// The next segments belong to another run.
    mutating func stepClock(by offset: Int64, _ camera: CameraNumber, quality: ClockQuality = .synchronised) {
        now.wall += offset
        beginRun(camera, quality)
    }

    mutating func beginRun(_ camera: CameraNumber, _ quality: ClockQuality) {
        var facts = RunFacts(
            boot: "boot", monotonicStart: now.monotonic, wallAnchor: now.wall, quality: quality)
        facts.previousEnd = .clockStep
        runs[camera] = facts
        fragments[camera] = 0
        queues[camera]?.end(PlainSegment.ending)
    }

    mutating func drain() {
        for camera in queues.keys.sorted() {
            while let step = queues[camera]?.next() {
                let outcome = writer.write(step, of: camera, at: now)
                takeEvents()
                guard outcome == .later, case .fragment(let fragment, let number, _, let isFirst, let gap) = step else {
                    continue
                }
                _ = queues[camera]?.putBack(fragment, of: number, isFirst: isFirst, afterGap: gap)
                break
            }
        }
    }

    mutating func stop() {
        for camera in queues.keys { queues[camera]?.end(PlainSegment.ending) }
        drain()
        writer.stop(at: now)
        takeEvents()
    }

    func check() throws -> CheckReport {
        _ = try files.attach()
        return try DiskCheck(files: files, index: index, scanner: PlainScanner()).run(
            disk: writer.disk, isThorough: true)
    }
}
