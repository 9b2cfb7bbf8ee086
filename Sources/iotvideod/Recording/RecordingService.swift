import Foundation
import Gateway
import IoTCore
import Logging
import MediaChannel
import NIOCore
import RecordingStore
import Sealing

/// The recordings of this box: the index, and the disk with its thread.
final class RecordingService: Sendable {
    private let index: RecordingIndex
    private let disk: RecordingDisk
    private let reader = RecordedReader()
    private let logger: Logger
    private let boot = ClockState.bootID()
    private let eventLimits: EventGate.Limits
    private let owners: RecordingOwners
    /// For those who read the recordings.
    let access: RecordingAccess

    /// Opens the index and starts the disk's thread. A disk that is not there is tried again and again.
    ///
    /// - Throws: `storeFailed` if the index cannot be opened; `.fileFailed` or `.invalidConfiguration` for a key.
    init(_ configuration: Configuration.Recording, directory: String, dataDirectory: String) throws(IoTError) {
        let logger = Logger(label: "recording")
        self.logger = logger
        eventLimits = EventGate.Limits(
            before: TimeAmount(configuration.beforeEvent).nanoseconds / 1_000,
            after: TimeAmount(configuration.afterEvent).nanoseconds / 1_000)
        // Fails if it exists, or its parent does not; then the disk says what is wrong.
        try? FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o750])
        index = try RecordingIndex(path: dataDirectory + "/recordings.sqlite")
        var settings = DiskConfiguration(path: directory)
        settings.sync = configuration.sync
        settings.floor = configuration.freeSpace
        settings.usualLimits = CameraLimits(
            bytes: configuration.cameraBytes, age: configuration.maximumDays.map(Self.age))
        let leases = SegmentLeases()
        let keys = try configuration.keys()
        if let key = keys.first {
            logger.notice("recordings are encrypted", metadata: ["key": "\(key.id)"])
        }
        let makeFiles = { @Sendable in
            SealedRecordingFiles(POSIXRecordingFiles(path: directory, requiresMount: false), keys: keys)
        }
        disk = RecordingDisk(
            files: makeFiles(), index: index, scanner: MP4SegmentScanner(), leases: leases, configuration: settings,
            clockState: DiskClock(boot: boot, isSynchronised: ClockState.isSynchronised)
        ) { event in
            event.log(to: logger)
        }
        access = RecordingAccess(
            library: RecordingLibrary(
                index: index, disk: disk, leases: leases, path: directory, makeFiles: makeFiles),
            threads: RecordingThreads())
        owners = RecordingOwners(library: access.library, logger: logger)
    }

    /// The hub says which owner of a device the present one is. Does not block.
    func tellOwner(_ ownership: Int64, of device: DeviceID) { owners.tell(ownership, of: device) }

    /// A recorder for a camera. The index knows it by its device id, so that another camera with the same name does not
    /// continue its recordings.
    func recorder(of device: DeviceID, _ settings: CameraSettings) throws(IoTError) -> CameraRecorder {
        let number = try index.camera(named: "\(device)")
        let logger = Logger(label: "camera.\(settings.name)")
        let recording = CameraRecording(
            number, boot: boot, title: settings.name, hasSound: settings.recordSound == .on)
        let threads = access.threads
        return CameraRecorder(
            recording, events: settings.record == .events ? eventLimits : nil,
            times: settings.recordingTimes, plan: try index.plan(of: number).map { RecordPlan($0) }
        ) { [disk] output in
            switch output {
            case .begin(let opening): disk.begin(opening, of: number)
            case .append(let fragment): disk.append(fragment, of: number)
            case .end(let ending): disk.end(ending, of: number)
            }
        } note: { [disk] entry in
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
    }

    /// What the recordings of a camera may use, also if it is not recorded any more.
    func limit(_ device: DeviceID, _ settings: CameraSettings) throws(IoTError) {
        guard let number = try index.number(of: "\(device)") else { return }
        disk.set(
            CameraLimits(bytes: settings.recordBytes.map(Int64.init), age: settings.recordDays.map(Self.age)),
            of: number)
    }

    /// Days as µs.
    private static func age(_ days: Int) -> Int64 { Int64(days) * 86_400_000_000 }

    /// The recordings of a camera, for its callers.
    func recordings(of device: DeviceID) throws(IoTError) -> CameraRecordings {
        let number = try index.camera(named: "\(device)")
        let library = access.library
        return CameraRecordings(reader: reader) { [index, owners, disk] () throws(IoTError) in
            try owners.note(device)
            return StoredRecordings(
                number, index: index, open: { id throws(IoTError) in try library.open(id) },
                growing: { library.growing(number) }, timelineEnd: { disk.timelineEnd })
        }
    }

    /// Writes what waits and completes all segments.
    func close() async {
        await access.threads.close()
        // `stop` blocks until the disk has everything.
        await withCheckedContinuation { continuation in
            let thread = Thread { [disk, index, reader, owners] in
                reader.stop()
                owners.close()
                disk.stop()
                index.close()
                continuation.resume()
            }
            thread.name = "recording-end"
            thread.start()
        }
    }
}
