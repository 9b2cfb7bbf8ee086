package import IoTCore
import Synchronization

/// A camera's owner sees only what was recorded while it was the owner. All calls block.
extension RecordingLibrary {
    /// Notes the number of a camera's owner. If it is another one than before, what was recorded until now is in no list
    /// any more and cannot be read; it stays on the disk until space or its age removes it. Nothing stays kept. The
    /// camera's recorder is told.
    ///
    /// - Parameters:
    ///   - ownership: the hub's number of the owner, which grows with each new owner.
    ///   - mayBeOld: whether the hub may know a newer owner already; then a lower number than the known one is ignored.
    /// - Throws: `storeFailed`.
    package func note(ownership: Int64, of camera: CameraNumber, mayBeOld: Bool) throws(IoTError) {
        guard try index.ownership(of: camera) != ownership else { return }
        // One at a time: of two that come at once, the older one must not win.
        try ownerNotes.withLock { _ throws(IoTError) in
            try change(to: ownership, of: camera, mayBeOld: mayBeOld)
        }
    }

    private func change(to ownership: Int64, of camera: CameraNumber, mayBeOld: Bool) throws(IoTError) {
        let known = try index.ownership(of: camera)
        guard known != ownership else { return }
        guard let known else { return try index.commit([.own(camera, ownership)]) }
        if mayBeOld, ownership < known { return }
        // An event that begins meanwhile does not bring the frames from before it.
        tellRecorder(of: camera)
        // Otherwise they would be in a segment that begins after the note.
        for disk in disks { disk.disk.discardWaiting(of: camera) }
        // Only a segment that begins after the note is the new owner's. Also if it fails: what follows is discarded.
        defer { tellRecorder(of: camera) }
        try index.commit([.own(camera, ownership)])
    }

    private func tellRecorder(of camera: CameraNumber) {
        let tell = ownerChanges.withLock { $0[camera] }
        tell?()
    }

    /// Called, on any thread, before and after another owner of the camera is noted. The next one replaces it.
    package func onOwnerChange(of camera: CameraNumber, _ body: @escaping @Sendable () -> Void) {
        ownerChanges.withLock { $0[camera] = body }
    }

    /// The camera that the index knows by this name, after its owner was noted.
    ///
    /// - Parameter ownership: as the hub said within the last second; `nil` if it did not.
    package func camera(named name: String, ownership: Int64?) throws(IoTError) -> CameraNumber? {
        guard let number = try camera(named: name) else { return nil }
        if let ownership { try note(ownership: ownership, of: number, mayBeOld: true) }
        return number
    }

    /// A camera's growing segment as it is now, if the camera's owner may see it.
    package func growing(_ camera: CameraNumber) -> (record: SegmentRecord, list: FragmentList)? {
        guard let growing = newest(camera), (try? index.isVisible(growing.record.id)) == true else { return nil }
        return growing
    }
}
