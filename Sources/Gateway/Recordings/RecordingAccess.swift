import GatewayAPI
package import IoTCore
package import RecordingStore

/// The recordings of this box, and the threads that read them.
package struct RecordingAccess: Sendable {
    package let library: RecordingLibrary
    package let threads: RecordingThreads

    package init(library: RecordingLibrary, threads: RecordingThreads) {
        self.library = library
        self.threads = threads
    }

    /// Why nothing is recorded on a box without a directory for it.
    package static var missing: IoTError {
        IoTError(
            .recorderUnavailable, "this box has no directory for recordings",
            remedy: "set recording.directory in its configuration, and restart the daemon")
    }

    /// - Parameters:
    ///   - isReady: whether the camera delivers pictures that are to be recorded.
    ///   - onlyEvents: whether only events are recorded.
    func state(
        of camera: DeviceID, isReady: Bool, onlyEvents: Bool
    ) async throws(IoTError) -> CameraRecordingState {
        let (number, waitsForEvent) = try await threads.run { [library] () throws(IoTError) in
            let number = try library.camera(named: camera.rawValue)
            return (number, onlyEvents && number.flatMap { library.growing($0) } == nil)
        }
        let limits = number.map { library.limits(of: $0) }
        let report = number.map { library.disk(of: $0).report }
        var state = CameraRecordingState(
            state: isReady && !waitsForEvent ? .recording : .waiting,
            bytes: number.map { library.usage(of: $0) } ?? 0,
            droppedFragments: number.flatMap { report?.dropped[$0] } ?? 0, mostBytes: limits?.bytes,
            days: limits?.age.map { Int($0 / 86_400_000_000) })
        if case .paused(let error, _) = report?.status {
            state.state = .paused
            state.reason = APIError(error)
        } else if let number, report?.full.contains(number) == true {
            state.state = .paused
            state.reason = APIError(.recordingDiskFull)
        }
        return state
    }
}
