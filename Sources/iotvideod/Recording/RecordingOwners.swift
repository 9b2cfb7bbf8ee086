import Dispatch
import IoTCore
import Logging
import RecordingStore
import Synchronization

/// The owners of the recorded cameras, as the hub tells the cameras' sessions. The index learns them on a queue of its
/// own; who reads before that has them noted first.
final class RecordingOwners: Sendable {
    private let library: RecordingLibrary
    private let logger: Logger
    /// One short job for each change of an owner.
    private let queue = DispatchQueue(label: "recording.owners")
    private let told: Mutex<[DeviceID: Int64]> = Mutex([:])

    init(library: RecordingLibrary, logger: Logger) {
        self.library = library
        self.logger = logger
    }

    /// `nil` until the hub has said it.
    func ownership(of device: DeviceID) -> Int64? { told.withLock { $0[device] } }

    /// Does not block.
    func tell(_ ownership: Int64, of device: DeviceID) {
        let earlier = told.withLock { told in
            defer { told[device] = ownership }
            return told[device]
        }
        guard earlier != ownership else { return }
        queue.async { [self] in
            do throws(IoTError) {
                try note(device)
            } catch {
                logger.warning(
                    "a camera's new owner could not be noted yet",
                    metadata: ["error": "\(error)", "remedy": "\(error.remedy)"])
            }
        }
    }

    /// Notes what the hub said of a device's owner. Blocks. Call it before its recordings are read.
    func note(_ device: DeviceID) throws(IoTError) {
        guard let ownership = told.withLock({ $0[device] }), let number = try library.camera(named: "\(device)") else {
            return
        }
        try library.note(ownership: ownership, of: number, mayBeOld: false)
    }

    /// Waits until everything is noted. Blocks.
    func close() { queue.sync {} }
}
