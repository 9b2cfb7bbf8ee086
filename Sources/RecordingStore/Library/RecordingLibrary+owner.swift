package import IoTCore

/// A camera's owner sees only what was recorded while it was the owner. All calls block.
extension RecordingLibrary {
    /// Notes the number of a camera's owner. If it is another one than before, what was recorded until now is in no list
    /// any more and cannot be read; it stays on the disk until space or its age removes it. Nothing stays kept.
    ///
    /// - Parameters:
    ///   - ownership: the hub's number of the owner, which grows with each new owner.
    ///   - mayBeOld: whether the hub may know a newer owner already; then a lower number than the known one is ignored.
    /// - Returns: whether the camera had another owner before.
    /// - Throws: `storeFailed`.
    @discardableResult
    package func note(ownership: Int64, of camera: CameraNumber, mayBeOld: Bool) throws(IoTError) -> Bool {
        let known = try index.ownership(of: camera)
        guard known != ownership else { return false }
        if let known {
            if mayBeOld, ownership < known { return false }
            // Otherwise they would be in a segment that begins after this.
            for disk in disks { disk.disk.dropWaiting(of: camera) }
        }
        try index.commit([.own(camera, ownership)])
        return known != nil
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
