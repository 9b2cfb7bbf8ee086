import Foundation
import Gateway
import IoTCore
import Logging
import MediaChannel
import NIOCore
import RecordingStore
import Sealing

/// The recordings of this box: the index, and the disks, each with its thread.
final class RecordingService: Sendable {
    private let index: RecordingIndex
    private let disks: [LibraryDisk]
    /// For each disk, because a disk that blocks delays nobody who reads another one: one to play, and one for what takes
    /// longer.
    private let readers: [(playback: RecordedReader, files: RecordedReader)]
    private let directories: [String: String]
    private let logger: Logger
    private let boot = ClockState.bootID()
    private let eventLimits: EventGate.Limits
    private let owners: RecordingOwners
    /// For those who read the recordings.
    let access: RecordingAccess

    /// Opens the index and starts the disks' threads. A disk that is not there is tried again and again.
    ///
    /// - Throws: `storeFailed` if the index cannot be opened; `.fileFailed` or `.invalidConfiguration` for a key.
    init(_ configuration: Configuration.Recording, directory: String, dataDirectory: String) throws(IoTError) {
        let logger = Logger(label: "recording")
        self.logger = logger
        directories = configuration.cameraDirectories
        eventLimits = EventGate.Limits(
            before: TimeAmount(configuration.beforeEvent).nanoseconds / 1_000,
            after: TimeAmount(configuration.afterEvent).nanoseconds / 1_000)
        let index = try RecordingIndex(path: dataDirectory + "/recordings.sqlite")
        let keys = try configuration.keys()
        if let key = keys.first {
            logger.notice("recordings are encrypted", metadata: ["key": "\(key.id)"])
        }
        let clock = DiskClock(boot: boot, isSynchronised: ClockState.isSynchronised)
        let paths = [directory] + Set(configuration.cameraDirectories.values).subtracting([directory]).sorted()
        let places = Set(paths.map { URL(fileURLWithPath: $0).resolvingSymlinksInPath().path })
        guard places.count == paths.count else {
            throw IoTError(
                .invalidConfiguration,
                "two paths of recording.directory and recording.cameraDirectories are one directory",
                remedy: "write the same path for it everywhere")
        }
        let leases = SegmentLeases()
        disks = paths.map { path in
            Self.disk(path, configuration, keys, index, leases, clock, logger)
        }
        self.index = index
        readers = disks.map { _ in (RecordedReader(), RecordedReader(name: "recorded-files")) }
        access = RecordingAccess(
            library: RecordingLibrary(index: index, disks: disks, leases: leases), threads: RecordingThreads())
        owners = RecordingOwners(library: access.library, logger: logger)
    }

    private static func disk(
        _ path: String, _ configuration: Configuration.Recording, _ keys: [SealingKey], _ index: RecordingIndex,
        _ leases: SegmentLeases, _ clock: DiskClock, _ logger: Logger
    ) -> LibraryDisk {
        // Fails if it exists, or its parent does not; then the disk says what is wrong.
        try? FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o750])
        var settings = DiskConfiguration(path: path)
        settings.sync = configuration.sync
        settings.floor = configuration.freeSpace
        settings.usualLimits = CameraLimits(
            bytes: configuration.cameraBytes, age: configuration.maximumDays.map(Self.age))
        let makeFiles = { @Sendable in
            SealedRecordingFiles(POSIXRecordingFiles(path: path, requiresMount: false), keys: keys)
        }
        var logger = logger
        logger[metadataKey: "recording.directory"] = "\(path)"
        let disk = RecordingDisk(
            files: makeFiles(), index: index, scanner: MP4SegmentScanner(), leases: leases, configuration: settings,
            clockState: clock
        ) { [logger] event in
            event.log(to: logger)
        }
        return LibraryDisk(disk: disk, path: path, makeFiles: makeFiles)
    }

    /// The hub says which owner of a device the present one is. Does not block.
    func tellOwner(_ ownership: Int64, of device: DeviceID) { owners.tell(ownership, of: device) }

    /// The number of the disk on which a camera is recorded.
    private func place(_ name: String) -> Int {
        directories[name].flatMap { path in disks.firstIndex { $0.path == path } } ?? 0
    }

    /// A recorder for a camera. The index knows it by its device id, so that another camera with the same name does not
    /// continue its recordings.
    func recorder(of device: DeviceID, _ settings: CameraSettings) throws(IoTError) -> CameraRecorder {
        let number = try index.camera(named: "\(device)")
        let place = disks[place(settings.name)]
        access.library.place(number, on: place.path)
        let disk = place.disk
        let logger = Logger(label: "camera.\(settings.name)")
        let recording = CameraRecording(
            number, boot: boot, title: settings.name, hasSound: settings.recordSound == .on)
        let threads = access.threads
        let recorder = CameraRecorder(
            recording, events: settings.record == .events ? eventLimits : nil,
            times: settings.recordingTimes, plan: try index.plan(of: number).map { RecordPlan($0) }
        ) { output in
            switch output {
            case .begin(let opening): disk.begin(opening, of: number)
            case .append(let fragment): disk.append(fragment, of: number)
            case .end(let ending): disk.end(ending, of: number)
            }
        } note: { entry in
            disk.note(entry, of: number)
        } onFailure: { error in
            logger.warning(
                "a part of the camera is not recorded",
                metadata: ["error": "\(error)", "remedy": "\(error.remedy)"])
        } storePlan: { [index] plan async throws(IoTError) in
            try await threads.run { () throws(IoTError) in
                try index.commit([.plan(number, plan.jsonText)])
            }
        }
        access.library.onOwnerChange(of: number) { [weak recorder] in recorder?.changeOwner() }
        return recorder
    }

    /// What the recordings of a camera may use, also if it is not recorded any more.
    func limit(_ device: DeviceID, _ settings: CameraSettings) throws(IoTError) {
        guard let number = try index.number(of: "\(device)") else { return }
        let limits = CameraLimits(
            bytes: settings.recordBytes.map(Int64.init), age: settings.recordDays.map(Self.age))
        for disk in disks { disk.disk.set(limits, of: number) }
    }

    /// Days as µs.
    private static func age(_ days: Int) -> Int64 { Int64(days) * 86_400_000_000 }

    /// The recordings of a camera, for its callers; `nil` if it is not recorded, and never was.
    func recordings(of device: DeviceID, _ settings: CameraSettings) throws(IoTError) -> CameraRecordings? {
        if settings.record == .none, try index.number(of: "\(device)") == nil { return nil }
        let number = try index.camera(named: "\(device)")
        let library = access.library
        let readers = readers[place(settings.name)]
        return CameraRecordings(reader: readers.playback, files: readers.files) { [owners] in
            owners.ownership(of: device)
        } open: { [index, owners] () throws(IoTError) in
            try owners.note(device)
            return StoredRecordings(number, index: index, library: library)
        }
    }

    /// Writes what waits and completes all segments.
    func close() async {
        await access.threads.close()
        // `stop` blocks until the disk has everything.
        await withCheckedContinuation { continuation in
            let thread = Thread { [disks, index, readers, owners] in
                for reader in readers {
                    reader.playback.stop()
                    reader.files.stop()
                }
                owners.close()
                for disk in disks { disk.disk.stop() }
                index.close()
                continuation.resume()
            }
            thread.name = "recording-end"
            thread.start()
        }
    }
}
